"""The command that installs an extra, wherever this was installed from: a clone, a wheel or an index."""

from __future__ import annotations

import json
import os
import sys
from importlib import metadata
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

_PACKAGE = "kernbench"


def install(extra: str) -> str:
    """``.venv/bin/python -m pip install -e '.[figures]'`` in a clone; paths from the working folder."""
    where, editable = _origin()
    return f"{_pip()} install {'-e ' if editable else ''}'{where}[{extra}]'"


def _origin() -> tuple[str, bool]:
    """What pip installs, by its name where it is not a file here, and whether that is in place."""
    try:
        said = json.loads(metadata.distribution(_PACKAGE).read_text("direct_url.json") or "{}")
    except metadata.PackageNotFoundError:
        return _PACKAGE, False
    url = urlsplit(str(said.get("url", "")))
    path = Path(url2pathname(url.path))
    if url.scheme != "file" or not path.exists():
        return _PACKAGE, False
    return _near(path), bool(said.get("dir_info", {}).get("editable"))


def _pip() -> str:
    """``pip``, or that of an environment which is not active."""
    if sys.prefix in (sys.base_prefix, os.environ.get("VIRTUAL_ENV")):
        return "pip"
    return f"{_near(Path(sys.executable))} -m pip"


def _near(path: Path) -> str:
    """A path from the working directory if it is in it."""
    here = Path.cwd()
    return str(path.relative_to(here)) if path.is_relative_to(here) else str(path)
