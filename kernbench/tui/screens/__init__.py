"""Screens: they draw what the models give, and ask for it in workers."""
