"""TritonBench-G, Triton kernels of others with their own tests, carried out here."""
