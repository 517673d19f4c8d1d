"""Explains kept runs from their traces alone."""
