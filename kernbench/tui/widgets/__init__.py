"""Widgets: what Textual does not have."""
