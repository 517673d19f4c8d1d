"""Files of a run for other tools."""
