"""The views of the page, and of each a text that it shows: of a run, or where it is drawn."""

from __future__ import annotations

from kernbench.api.contents import roofline

VIEWS = {
    "overview": "Busiest parts",
    "advice": "Savings are estimates from the critical path",
    "topology": "Utilisation: the share of what a link or part could have done",
    "timeline": "time 0 is",
    "path": "the chain of work and waiting",
    "waits": "Which transactions waited for which others",
    "memory": "TCM over time",
    "energy": "its kernels took",
    "roofline": roofline.NOTE,
    "questions": "Choose a question",
    "cypher": "Read-only",
    "compare": "Configured differently",
    "runs": "qkv-gemm",
}
