"""The digest that ties a compiled core to its source. The build runs this file by itself."""

from __future__ import annotations

import hashlib
from pathlib import Path


def digest(folder: Path) -> str:
    """Digest of the files in ``folder`` that the core is compiled from; empty where there are none."""
    sources = sorted(path for path in folder.iterdir() if path.suffix in (".pyx", ".pxi"))
    content = b"".join(path.name.encode() + b"\n" + path.read_bytes() for path in sources)
    return hashlib.sha256(content).hexdigest()[:16] if sources else ""
