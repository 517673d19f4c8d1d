"""Figures of DMA transfers: scenarios found in a topology, their times taken apart, drawn with matplotlib.

Numbers first: :mod:`.scenarios` finds what to run, :mod:`.measure` runs it, :mod:`.breakdown` says where the
time went. Only :mod:`.drawing` needs matplotlib.
"""
