"""Steps and throughput of whole models on machines, beside what engines on GPUs published."""

from __future__ import annotations

from kernbench.api.models.step_time import Phase, StepResult, step
from kernbench.validation.table_file import Case, folder


def step_ms(case: Case) -> float:
    """ms of a decode step of one sequence, halfway through its output."""
    return _decode(case).ns / 1e6


def roof_ms(case: Case) -> float:
    """The same by a roofline of three numbers of a GPU."""
    return _decode(case).roof_ns / 1e6


def first_token_s(case: Case) -> float:
    """s of the prefill of one prompt."""
    return _prefill(case).ns / 1e9


def roof_first_token_s(case: Case) -> float:
    """The same by a roofline of three numbers."""
    return _prefill(case).roof_ns / 1e9


def tokens_s(case: Case) -> float:
    """Tokens a second of sequences that start together: the prefill of each, then steps of them all."""
    return _tokens_s(case, _decode(case).ns, _prefill(case).ns)


def roof_tokens_s(case: Case) -> float:
    """The same by a roofline of three numbers."""
    return _tokens_s(case, _decode(case).roof_ns, _prefill(case).roof_ns)


def turns(case: Case) -> float:
    """Turns of loops, 1 ms of CPU each: of a step by its sequences, of a prompt by its tokens."""
    if "batch" not in case:
        return 0
    batch, decode = int(case["batch"]), str(case["figure"]) == "step"
    prompt = 0 if decode else 1000 + 20 * int(case["prompt"])
    return prompt if case["figure"] == "first" else prompt + 1000 + 450 * batch


def _tokens_s(case: Case, step_ns: float, prefill_ns: float) -> float:
    batch, output = int(case["batch"]), int(case["output"])
    return batch * output * 1e9 / (batch * prefill_ns + (output - 1) * step_ns)


def _decode(case: Case) -> StepResult:
    context = int(case["prompt"]) + int(case["output"]) // 2
    return _step(case, "decode", int(case["batch"]), context)


def _prefill(case: Case) -> StepResult:
    return _step(case, "prefill", 1, int(case["prompt"]))


def _step(case: Case, phase: Phase, batch: int, context: int) -> StepResult:
    machine = folder() / "machines" / "a100-80g.yaml"
    gpus = {"parts.gpu.count": int(case["gpus"])}
    return step(str(case["model"]), machine, phase, batch, context, topo=gpus)
