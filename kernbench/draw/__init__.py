"""Pictures: machines, timelines, figures."""
