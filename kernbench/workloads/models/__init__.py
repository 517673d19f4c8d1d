"""Decoders of language models as benches: what a model is, how a layer lies on a machine, its kernels."""

from __future__ import annotations

from kernbench.workloads.models.config import MODELS, Model, model_of

__all__ = ["MODELS", "Model", "model_of"]
