"""One file a command; imported when it is asked for, so that ``kernbench --help`` stays quick."""
