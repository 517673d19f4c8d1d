"""One HTML file for somebody without KernBench: no script, no network, its pictures inside.

Colours follow the reader's choice of a light or a dark page; pictures keep their white paper.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
_STYLE = """
:root { color-scheme: light dark; --ink: #1f2933; --paper: #fff; --line: #d5dbe1; --faint: #616e7c; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e4e7eb; --paper: #15191e; --line: #3e4c59; --faint: #9aa5b1; }
}
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 100rem; padding: 1rem; color: var(--ink); background: var(--paper);
       font: 15px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.5rem; margin: 0; } h2 { font-size: 1.15rem; margin: 2rem 0 .5rem; }
nav { display: flex; flex-wrap: wrap; gap: .25rem 1rem; padding: .5rem 0;
      border-bottom: 1px solid var(--line); }
a { color: inherit; } p { margin: .25rem 0; } .faint { color: var(--faint); }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .1rem 1rem; margin: .75rem 0; }
dt { color: var(--faint); } dd { margin: 0; overflow-wrap: anywhere; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .15rem .75rem .15rem 0; border-bottom: 1px solid var(--line); white-space: nowrap; }
th { font-weight: 600; }
figure { margin: .5rem 0; } fig.paper { background: #fff; color: #1f2933; overflow: auto; max-height: 85vh;
         border: 1px solid var(--line); }
img { max-width: 100%; }
.slower { color: #d92d20; font-weight: 600; } .faster { color: #2e9e4f; }
"""


@dataclass(frozen=True)
class PageSection:
    """A part of the page: ``body`` is HTML; ``title`` is plain text, and is in the list at the top."""

    title: str
    body: str


def page(title: str, facts: Mapping[str, str], sections: Sequence[PageSection], made_by: str) -> str:
    """The whole file. ``facts`` are shown beneath the title; ``made_by`` at the end."""
    links = "".join(f'<a href="#s{at}">{escape(s.title)}</a>' for at, s in enumerate(sections))
    rows = "".join(f"<dt>{escape(key)}</dt><dd>{escape(text)}</dd>" for key, text in facts.items() if text)
    parts = [
        f'<section id="s{at}"><h2>{escape(s.title)}</h2>{s.body}</section>' for at, s in enumerate(sections)
    ]
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{_STYLE}</style></head>\n"
        f"<body><header><h1>{escape(title)}</h1><dl>{rows}</dl></header>\n"
        f'<nav aria-label="Sections">{links}</nav>\n<main>{"".join(parts)}</main>\n'
        f'<footer class="faint"><p>{escape(made_by)}</p></footer></body></html>\n'
    )


def image(png: bytes, caption: str) -> str:
    """A PNG."""
    data = base64.b64encode(png).decode("ascii")
    return f'<div class="paper"><img alt="{escape(caption)}" src="data:image/png;base64,{data}"></div>'
