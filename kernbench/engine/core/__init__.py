"""The engine: clock, links, flits, transactions, the trace. Knows no particular component."""

import kernbench.support.compiled  # noqa: F401  (it says which of these modules are found compiled)
