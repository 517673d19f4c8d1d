"""Modules of the shipped evaluations and of their helpers, as ``kernbench evaluate`` imports them."""

from __future__ import annotations

import sys
from functools import cache
from types import ModuleType

from kernbench.data_files import data_dir
from kernbench.user_modules import load_file

GQA = f"{data_dir('evaluations') / '_gqa_attention.py'}:gqa-attention"
"""A bench that one of them has for itself."""


@cache
def evaluation_module(name: str) -> ModuleType:
    """The module of the file ``name.py``."""
    return sys.modules[load_file(str(data_dir("evaluations") / f"{name}.py"), "evaluation")]
