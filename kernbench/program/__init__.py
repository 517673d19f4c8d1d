"""Commands, operations and requests: asked for by kernels and hosts, carried out by components."""
