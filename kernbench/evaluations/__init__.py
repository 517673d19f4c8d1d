"""Evaluations: many configurations of benches and traffic, tables of them, and figures.

One module per evaluation, registered with :func:`evaluation`; ``kernbench evaluate NAME`` runs it. A module
whose name starts with an underscore is a helper.
"""

from __future__ import annotations

from kernbench.evaluations.registry import EvaluationSpec, Evaluator, evaluation, list_all, resolve

__all__ = ["EvaluationSpec", "Evaluator", "evaluation", "list_all", "resolve"]
