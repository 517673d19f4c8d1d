"""Who is next on a link: the arbiters that a topology file names."""

import kernbench.support.compiled  # noqa: F401  (it says which modules are found compiled)
