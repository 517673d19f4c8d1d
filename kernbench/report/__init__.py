"""Output for people and for other tools: diagrams, figures, exports."""
