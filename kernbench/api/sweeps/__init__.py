"""Sweeps of a bench over parameters and machines, where points are run, and evaluations made of them."""
