"""``kernbench web``: a server of one page about the runs of a store. Needs the extra ``web``."""
