"""Runs, stores, questions: what ``import kernbench`` and the command line call, a module a topic."""
