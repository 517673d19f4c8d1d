"""Hardware components, one file each, registered by name in ``configs/components.yaml``."""

import kernbench.support.compiled  # noqa: F401  (it says which of these modules are found compiled)
