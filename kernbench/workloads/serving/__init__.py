"""A service on a simulated machine: requests come, wait, are batched, prefilled, decoded, and leave.

:func:`~kernbench.workloads.serving.loop.serve` runs a load through continuous batching with a paged cache. It
touches no PE: the time of a step comes from a table of simulated steps.
"""
