"""The page's own files, and the whole page: for a server, or as one file with its data inside.

The modules are plain ES modules; no build step made them. In one file each becomes a function that gives what
the module exports: the policy of that file allows its own script by hash, and nothing else.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from functools import cache
from html import escape
from pathlib import Path
from typing import Any

from kernbench.draw.content import Content
from kernbench.support.written_files import writing

_FOLDER = Path(__file__).resolve().parent / "static"
_TYPES = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}
_IMPORT = re.compile(r'^import (?:\{(?P<names>[^}]*)\}) from "\./(?P<file>[\w.-]+)";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async function|function|const|class) (?P<name>\w+))", re.MULTILINE)
_NAME = re.compile(r"^export (?:async function|function|const|class) (\w+)", re.MULTILINE)
_MAIN = "main.js"


@cache
def _files() -> Mapping[str, str]:
    return {path.name: path.read_text(encoding="utf-8") for path in sorted(_FOLDER.iterdir())}


def served(name: str) -> tuple[str, str] | None:
    """The text and the media type of a file of the page; None where there is none of that name."""
    found = _files().get(name)
    kind = _TYPES.get(Path(name).suffix)
    return None if found is None or kind is None else (found, kind)


Views = Sequence[Sequence[str]]
"""Name in addresses and title of each view of the page."""
_LOOKS = '<link rel="icon" href="/icon.svg"><link rel="stylesheet" href="/page.css">'


def page(views: Views, first: str = "") -> str:
    """The page for a server; ``first`` is the run that it shows at first, by default the last."""
    data = f'data-run="{escape(first)}" data-views="{escape(json.dumps(views))}"'
    head = f'{_LOOKS}<script type="module" src="{_MAIN}"></script>'
    return _html("KernBench", head, f'<main id="page" {data}></main>')


def no_page(address: str, views: Views) -> str:
    """What a server shows at an address without a page: it names the address, and leads to what there is."""
    links = " ".join(f'<a href="/#{name}">{escape(title)}</a>' for name, title in views)
    told = f'<p class="bad" role="alert">There is no page \'{escape(address)}\'.</p><p>There are: {links}</p>'
    return _html("No such page - KernBench", _LOOKS, f'<main id="page"><h1>No such page</h1>{told}</main>')


def one_file(title: str, answers: Mapping[str, Any], about: Mapping[str, Any]) -> str:
    """The page as one file that loads nothing.

    Args:
        title: Of the window.
        answers: By what the page asks for (``name`` or ``name?key=value&...``), as
            :mod:`kernbench.page` gives them.
        about: What the page says of itself: ``run``, ``made_by`` and ``views``.
    """
    script = _bundle()
    style = _files()["page.css"]
    policy = (
        f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    head = f'<meta http-equiv="Content-Security-Policy" content="{policy}"><style>{style}</style>'
    data = json.dumps(
        {**about, "answers": answers}, ensure_ascii=False, allow_nan=False, separators=(",", ":")
    )
    body = (
        '<main id="page"><noscript><p>This page needs JavaScript; all that it shows is in this '
        "file.</p></noscript></main>\n"
        f'<script type="application/json" id="data">{_harmless(data)}</script>\n'
        f'<script type="module">{script}</script>'
    )
    return _html(title, head, body)


def still(title: str, body: str) -> str:
    """A page without a script, in the page's style."""
    policy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
    head = f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
    style = f"{_files()['page.css']}\nimg {{ max-width: 100%; background: #fff; }}"
    return _html(title, f"{head}<style>{style}</style>", f'<main id="page">{body}</main>')


def write_still(file: Path, shown: Content, pictures: str = "") -> None:
    """Write tables and lines as a page of their own, with ``pictures`` below."""
    with writing(file) as partial:
        partial.write_text(still(shown.title, shown.html() + pictures), encoding="utf-8")


def picture(text: str, png: bytes) -> str:
    """A PNG picture within a page; ``text`` says what it shows."""
    data = base64.b64encode(png).decode("ascii")
    return f'<p><img alt="{escape(text)}" src="data:image/png;base64,{data}"></p>'


def _html(title: str, head: str, body: str) -> str:
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title>{head}</head>\n<body>{body}</body></html>\n"
    )


def _harmless(data: str) -> str:
    """JSON that ends no element and opens no comment."""
    return data.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode('ascii')}"


@cache
def _bundle() -> str:
    """All modules in one script, each after those that it imports."""
    done: dict[str, str] = {}

    def add(name: str, above: tuple[str, ...]) -> None:
        if name in done:
            return
        if name in above:
            raise ValueError(f"modules of the page import each other: {' -> '.join((*above, name))}")
        text = _files()[name]
        for match in _IMPORT.finditer(text):
            add(match["file"], (*above, name))
        inside = _IMPORT.sub(lambda m: f"const {{{_rename(m['names'])}}} = {_variable(m['file'])};\n", text)
        exported = ", ".join(_NAME.findall(text))
        inside = _EXPORT.sub("", inside)
        if re.search(r"^(import|export)\b", inside, re.MULTILINE):
            raise ValueError(f"{name} imports or exports in a way that one file cannot hold")
        done[name] = f"const {_variable(name)} = (() => {{\n{inside}return {{{exported}}};\n}})();\n"

    add(_MAIN, ())
    return "".join(done.values())


def _rename(names: str) -> str:
    """``a as b`` of an import is ``a: b`` in a pattern."""
    return re.sub(r"(\w+) as (\w+)", r"\1: \2", names)


def _variable(file: str) -> str:
    return f"_{re.sub(r'[^a-zA-Z0-9]', '_', file)}"
