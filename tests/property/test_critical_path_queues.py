"""Critical paths through queues close as well, and lead over tokens and credits to the other PE."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import kernbench as kb
from kernbench.analysis.what_if.retiming import what_if
from kernbench.host import DPPolicy
from tests.compiled import compiled
from tests.examples import examples
from tests.property.test_critical_path import check
from tests.queue_runs import PAIR

MACHINE = PAIR | {"cube.pes.count": 4, "cube.pes.corners": ["NW", "NE", "SW", "SE"]}
SLOW = MACHINE | {
    "pe.pe_ipcq.overhead_ns": 2.5, "pe.pe_dma.overhead_ns": 1.5, "pe.pe_cpu.dispatch_cycles": 3.0,
    "pe.links.internal_gbs": 300.0,
}  # fmt: skip

MESSAGES = st.lists(
    st.tuples(
        st.integers(0, 3),
        st.integers(1, 3),
        st.sampled_from([0, 4, 64, 500, 5000]),
        st.sampled_from([0, 0, 20, 400]),
        st.sampled_from(["handle", "memory"]),
        st.sampled_from(["recv", "async", "no_consume", "memory"]),
    ),
    min_size=1,
    max_size=7,
)
"""(sender, steps around the ring to the receiver, bytes, cycles before both, where from, how received)."""


def talk(messages: list[Any], kind: str, slots: int) -> Any:
    """A bench in which PEs send each other ``messages``, one after the other, each over its own queue."""

    def kernel(x: Any, landing: Any, tl: Any) -> None:
        me = tl.program_id(0)
        data = tl.load(x.local)
        for sender, step, nbytes, pause, source, how in messages:
            receiver = (sender + step) % 4
            if me == sender:
                tl.cycles(pause)
                if source == "memory" and nbytes:
                    tl.send(f"to{receiver}", src_addr=x.local, nbytes=nbytes)
                else:
                    tl.send(f"to{receiver}", tl.full((nbytes // 4,), 1, "i32") if nbytes >= 4 else None)
                data = data + 1
            elif me == receiver:
                tl.cycles(pause // 2)
                size = nbytes if source == "memory" else nbytes // 4 * 4
                if how == "async":
                    future = tl.recv_async(f"to{sender}")
                    data = data * 2
                    tl.wait(future)
                elif how == "no_consume":
                    tl.recv_no_consume(f"to{sender}")
                elif how == "memory" and size:
                    tl.recv(f"to{sender}", (size,), "i8", dst_addr=int(landing.local))
                else:
                    tl.recv(f"to{sender}")
        tl.store(x.local, data)

    def run(torch: Any) -> None:
        dp = DPPolicy(pe="row_wise", num_cubes=1)
        x = torch.zeros(4, 1280, dtype="i32", dp=dp)
        landing = torch.zeros(4, 5120, dtype="i8", dp=dp)
        pes = [(0, 0, pe) for pe in range(4)]
        wires = {a: {f"to{b[2]}": b for b in pes if b != a} for a in pes}
        torch.install_ipcq(wires, buffer_kind=kind, slots=slots, slot_bytes=512)
        torch.launch("talk", kernel, x, landing)

    return run


@examples(80)
@given(
    messages=MESSAGES,
    kind=st.sampled_from(["tcm", "sram", "hbm"]),
    slots=st.integers(1, 5),
    slow=st.booleans(),
)
def test_paths_through_queues_close(messages: list[Any], kind: str, slots: int, slow: bool) -> None:
    machine = compiled(None, SLOW if slow else MACHINE)
    check(kb.run(talk(messages, kind, slots), machine, store="memory:", check=True))


def test_the_path_goes_over_to_the_sender_and_back_with_the_credits() -> None:
    """One slot and a slow reader: tokens, slots and credits are what the time goes into."""
    messages = [(0, 1, 5000, 0, "handle", "recv")]
    run = kb.run(talk(messages, "tcm", 1), compiled(None, MACHINE), store="memory:")
    path = run.critical_path(0)
    kinds = [step.activity.split()[0] for step in path.steps]
    assert kinds.count("ipcq_token") > 20
    assert kinds.count("ipcq_credit") > 20
    assert any(step.activity.startswith("dma_read") and ".pe0." in step.activity for step in path.steps)


@pytest.mark.daily(but=("kind:pe_ipcq",))
@pytest.mark.parametrize("part", ["kind:pe_ipcq", "kind:router_mesh", "kind:pe_tcm"])
def test_the_estimate_of_a_change_is_near_what_such_a_machine_takes(part: str) -> None:
    """A change of one part of the path, estimated from the kept run and then measured."""
    messages = [(0, 1, 5000, 0, "handle", "recv"), (1, 1, 5000, 0, "handle", "recv")]
    slow = {**MACHINE, "pe.pe_ipcq.overhead_ns": 40.0, "pe.pe_tcm.overhead_ns": 5.0}
    bench = talk(messages, "tcm", 2)
    kept = kb.run(bench, compiled(None, slow), store="memory:").critical_path(0)
    estimate = what_if(kept, compiled(None, slow), [(part, 2.0)])
    faster = compiled(None, {**slow, "overrides": [{"where": part, "speed": 2.0}]})
    measured = kb.run(bench, faster, store="memory:").kernels_ns
    before = kept.t_end - kept.t_start
    assert measured < before
    assert estimate.ns == pytest.approx(measured, rel=0.05)
