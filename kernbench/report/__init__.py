"""What is drawn and written for people and for other tools: diagrams, figures, exports."""
