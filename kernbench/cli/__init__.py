"""The command line: each command is one file in ``commands``, everything it does goes through ``api``."""
