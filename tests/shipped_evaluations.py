"""Modules of the shipped evaluations and of their helpers, as ``kernbench evaluate`` imports them."""

from __future__ import annotations

import sys
from functools import cache
from types import ModuleType

from kernbench.support.data_files import data_dir
from kernbench.support.user_modules import load_file, module_name
from kernbench.workloads.benches.registry import forget

GQA = f"{data_dir('evaluations') / '_gqa_attention.py'}:gqa-attention"
"""A bench that one of them has for itself."""


@cache
def evaluation_module(name: str) -> ModuleType:
    """The module of the file ``name.py``."""
    path = data_dir("evaluations") / f"{name}.py"
    forget(module_name(path))  # it may have been asked for a bench
    return sys.modules[load_file(str(path), "evaluation")]
