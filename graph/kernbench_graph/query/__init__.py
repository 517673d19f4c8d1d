"""Loads, validates and asks the question library."""
