"""An extension of griffe for `make site`: Sphinx roles in docstrings (``:class:`Run```) become code."""

from __future__ import annotations

import re
from typing import Any

import griffe


class DocstringRoles(griffe.Extension):
    """Writes roles and double backquotes of every docstring as Markdown."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Called for each object as it is loaded."""
        if obj.docstring:
            text = re.sub(r":\w+:`+[~.]?([^`]*)`+", r"`\1`", obj.docstring.value)
            obj.docstring.value = text.replace("``", "`")
