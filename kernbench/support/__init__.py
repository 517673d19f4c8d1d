"""Helpers that every room may use; they know nothing of machines."""
