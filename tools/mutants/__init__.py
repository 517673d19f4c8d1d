"""Planted faults, to see whether the tests find them: ``python -m tools.mutants --help``."""
