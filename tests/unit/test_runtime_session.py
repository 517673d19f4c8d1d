"""A run's outcome: times, verification, and every way in which a run can fail."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from kernbench.engine.core.instrument import Instrument
from kernbench.engine.run_options import RunOptions
from kernbench.errors import BenchError, LaunchError, UsageError, VerificationError
from kernbench.host import NoRequestsError, run_bench
from tests.compiled import compiled

GRAPH = compiled("minimal")
TWO = compiled("minimal", {"system.sips": 2})


@dataclass
class Mine:
    run: Any
    name: str = "mine"


def square(x, y, tl):
    value = tl.load(x.local)
    tl.store(y.local, value * value)


def squares(torch, wrong=None, asked=None):
    values = np.arange(16, dtype=np.float32)
    x, y = torch.from_numpy(values, name="x"), torch.empty(16, dtype="f32", name="y")
    torch.launch("square", square, x, y)

    def expected():
        if asked is not None:
            asked.append(True)
        result = values**2
        if wrong is not None:
            result[wrong] += 1
        return result

    torch.check("squares", y, expected)


def test_a_good_run():
    outcome = run_bench(GRAPH, Mine(squares), options=RunOptions(verify=True)).raise_for_error()
    assert outcome.ok
    assert (outcome.bench, outcome.verified, outcome.completion.error_code) == ("mine", "yes", None)
    (launch,) = outcome.launches
    assert (launch.name, launch.pes) == ("square", 1)
    assert 0 < launch.t_start < launch.t_done <= outcome.sim_ns
    assert [(c.name, c.sip, c.ok) for c in outcome.checks] == [("squares", 0, True)]
    assert outcome.machine is not None
    assert {op.name for op in outcome.data.log} >= {"host_write", "dma_read", "mul", "dma_write"}


def test_verification_does_not_change_times_and_is_not_done_unasked():
    asked: list[bool] = []
    quick = run_bench(GRAPH, Mine(lambda torch: squares(torch, asked=asked)))
    assert (quick.verified, quick.checks, asked) == ("not asked", (), [])
    slow = run_bench(GRAPH, Mine(lambda torch: squares(torch, asked=asked)), options=RunOptions(verify=True))
    assert asked == [True]
    assert (quick.sim_ns, quick.launches) == (slow.sim_ns, slow.launches)


def test_wrong_values_are_found():
    outcome = run_bench(GRAPH, Mine(lambda torch: squares(torch, wrong=5)), options=RunOptions(verify=True))
    assert not outcome.ok
    assert (outcome.verified, outcome.completion.error_code) == ("no", "VERIFICATION_FAILED")
    message = outcome.completion.error_message
    for word in ("squares", "(5,)", "got 25", "expected 26", "dma_write", "sip0.cube0.pe0"):
        assert word in message
    with pytest.raises(VerificationError):
        outcome.raise_for_error()


def test_every_sip_is_checked():
    def run(torch):
        def kernel(y, tl):
            tl.store(y.local, tl.full((4,), float(tl.program_id(2)), dtype="f32"))

        y = torch.empty(4, dtype="f32")
        torch.launch("which", kernel, y)
        torch.check("zero everywhere", y, np.zeros(4))
        torch.check("one on sip 1", y, np.ones(4), sip=1)

    outcome = run_bench(TWO, Mine(run), options=RunOptions(verify=True, device="all"))
    assert [(c.name, c.sip, c.ok) for c in outcome.checks] == [
        ("zero everywhere", 0, True),
        ("zero everywhere", 1, False),
        ("one on sip 1", 1, True),
    ]
    assert "on sip1" in outcome.completion.error_message


def test_a_check_needs_its_tensor_to_the_end():
    def run(torch):
        x = torch.zeros(4, name="x")
        torch.check("x", x, np.zeros(4))
        x.free()

    outcome = run_bench(GRAPH, Mine(run), options=RunOptions(verify=True))
    assert outcome.completion.error_code == "USAGE"
    assert "'x' was freed before the end" in outcome.completion.error_message
    with pytest.raises(UsageError, match="not a tensor"):
        run_bench(GRAPH, Mine(lambda torch: (torch.zeros(1), torch.check("c", 3, 3)))).raise_for_error()


def test_a_bench_that_submits_nothing_fails():
    outcome = run_bench(GRAPH, Mine(lambda torch: None))
    assert outcome.completion.error_code == "NO_REQUESTS"
    with pytest.raises(NoRequestsError, match="NO_REQUESTS: bench 'mine'") as caught:
        outcome.raise_for_error()
    assert isinstance(caught.value, BenchError)


def test_a_failing_kernel_leaves_an_outcome_with_its_trace():
    def run(torch):
        def broken(x, tl):
            tl.load(x.local)
            raise ValueError("by design")

        torch.launch("broken", broken, torch.zeros(4))

    outcome = run_bench(GRAPH, Mine(run), options=RunOptions(verify=True))
    assert (outcome.completion.error_code, outcome.verified) == ("LAUNCH_FAILED", "not asked")
    assert isinstance(outcome.error, LaunchError)
    assert len(outcome.data.log) == 2  # the host's write and the load
    assert outcome.sim_ns > 0


def test_a_bench_that_raises_names_its_line():
    outcome = run_bench(GRAPH, Mine(lambda torch: [][1]))
    assert outcome.completion.error_code == "BENCH_FAILED"
    assert "IndexError" in outcome.completion.error_message
    assert "test_runtime_session.py:" in outcome.completion.error_message
    assert isinstance(outcome.error.__cause__, IndexError)

    def run(torch):
        torch.check("x", torch.zeros(4), lambda: 1 // 0)

    outcome = run_bench(GRAPH, Mine(run), options=RunOptions(verify=True))
    assert outcome.completion.error_code == "BENCH_FAILED"
    assert "ZeroDivisionError" in outcome.completion.error_message


def test_running_out_of_memory_has_its_code():
    outcome = run_bench(GRAPH, Mine(lambda torch: torch.empty(1 << 40, dtype="i8")))
    assert outcome.completion.error_code == "OUT_OF_MEMORY"


def test_reading_results_without_verification_says_what_to_do():
    def run(torch):
        x = torch.zeros(4)
        torch.launch("square", square, x, x)
        x.numpy()

    outcome = run_bench(GRAPH, Mine(run))
    assert outcome.completion.error_code == "USAGE"
    assert "--verify-data" in outcome.completion.error_message
    assert run_bench(GRAPH, Mine(run), options=RunOptions(verify=True)).ok


def test_a_run_that_nobody_keeps_logs_only_what_wrote_memory():
    def run(torch):
        squares(torch)

    kept, bare = run_bench(GRAPH, Mine(run)), run_bench(GRAPH, Mine(run), options=RunOptions(trace=False))
    wrote = [op.id for op in kept.data.log if op.output is not None and op.output.regions]
    assert [op.id for op in bare.data.log] == wrote
    assert len(wrote) < len(kept.data.log)
    assert (bare.sim_ns, bare.launches) == (kept.sim_ns, kept.launches)


@pytest.mark.parametrize("traced", [True, False])
def test_a_result_that_is_not_computed_is_refused_by_name(traced):
    def run(torch):
        squares(torch)
        torch.launch("again", square, y := torch.zeros(4, name="z"), y)
        y.numpy()

    outcome = run_bench(GRAPH, Mine(run), options=RunOptions(trace=traced))
    (written,) = (
        op for op in run_bench(GRAPH, Mine(run)).data.log if op.launch == 1 and op.name == "dma_write"
    )
    assert outcome.completion.error_message.startswith(
        f"tensor 'z' holds a result of memory/dma_write (op {written.id}) on "
        f"sip0.cube0.pe0.pe_dma at {written.t_end:.9g} ns, test_runtime_session.py:"
    )


def test_a_wrong_device_is_raised_at_once():
    with pytest.raises(UsageError, match="all, sip:0"):
        run_bench(GRAPH, Mine(squares), options=RunOptions(device="sip:1"))


def test_instruments_progress_and_params():
    class Watch(Instrument):
        def __init__(self):
            self.names = []

        def op_done(self, op):
            self.names.append(op.name)

    watch, seen = Watch(), []

    def run(torch):
        assert torch.params.size == 8
        squares(torch)

    outcome = run_bench(
        GRAPH,
        Mine(run),
        {"size": 8},
        instruments=[watch],
        options=RunOptions(progress=lambda ns, events: seen.append((ns, events))),
    ).raise_for_error()
    assert watch.names == [op.name for op in outcome.data.log]
    assert seen == sorted(seen)
    assert seen[-1][0] == outcome.sim_ns


@pytest.mark.parametrize(
    ("error", "said"), [(SystemExit(0), "exits with 0"), (GeneratorExit(), "raises GeneratorExit")]
)
def test_a_bench_that_exits_does_not_end_the_program(error, said):
    def run(torch):
        torch.zeros(4)
        raise error

    outcome = run_bench(GRAPH, Mine(run))
    assert outcome.completion.error_code == "BENCH_FAILED"
    assert f"'mine' {said}" in outcome.completion.error_message
    assert "test_runtime_session.py:" in outcome.completion.error_message


def test_an_error_inside_a_library_names_the_users_line():
    def run(torch):
        torch.zeros(4)
        np.stack([np.zeros(1), np.zeros(2)])

    line = run.__code__.co_firstlineno + 2
    message = run_bench(GRAPH, Mine(run)).completion.error_message
    assert message.endswith(f"(test_runtime_session.py:{line})")
    without = run_bench(GRAPH, Mine(lambda: None)).completion.error_message
    assert "TypeError" in without
    assert ".py:" not in without
