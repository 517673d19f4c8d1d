"""Routes, faults, centrality and zero-load latency of a machine."""
