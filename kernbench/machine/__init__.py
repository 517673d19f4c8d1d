"""The wired machine."""
