"""Estimates of a run on a machine that is faster in places."""
