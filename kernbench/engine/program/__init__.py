"""Commands, operations and requests: asked for by kernels and hosts, carried out by components."""

import kernbench.support.compiled  # noqa: F401  (it says which of these modules are found compiled)
