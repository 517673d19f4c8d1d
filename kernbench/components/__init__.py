"""Hardware components, one file each, registered by name in ``configs/components.yaml``."""
