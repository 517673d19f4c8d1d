"""Figures of DMA transfers: scenarios found in a topology, their times taken apart, drawn with matplotlib.

Numbers first: :mod:`.scenarios` finds what to run, :mod:`.transfers` runs it, :mod:`.breakdown` splits its
time. Only :mod:`.drawing` needs matplotlib.
"""
