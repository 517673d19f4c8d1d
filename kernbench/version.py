"""The version, for what records it and what compares it."""

__version__ = "0.1.0"
