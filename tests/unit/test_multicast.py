"""Multicasts of kernels: what arrives, in which order, when they leave, and what the record says of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kernbench as kb
from kernbench.errors import DeadlockError, KernelError, LaunchError
from kernbench.host import DPPolicy
from tests.grids import GRID, GRIDS, grid
from tests.queue_runs import Rig

FOUR = {"system.sips": 1, "sip.cube_mesh": {"w": 1, "h": 1}, "cube.pes.count": 4,
        "cube.hbm.pseudo_channels": 16}  # fmt: skip
STAR: Any = {(0, 0, 0): {f"to{pe}": (0, 0, pe) for pe in (1, 2, 3)}} | {
    (0, 0, pe): {"back": (0, 0, 0)} for pe in (1, 2, 3)
}
ALL = ["to1", "to2", "to3"]
N = 96


def received(rig: Rig, counts: dict[int, int], casts: Any, slots: int = 2, slot_bytes: int = 4096) -> Any:
    """PE 0 runs ``casts``; PE n stores so many messages. What each has stored."""
    out = rig.torch.zeros((4 * 8, N), dtype="f16")

    def receiver(pe: int) -> Any:
        def body(base: Any, tl: Any) -> None:
            for number in range(counts.get(pe, 0)):
                tl.store(base + (pe * 8 + number) * 2 * N, tl.recv("back"))

        return body

    with rig.torch.install_ipcq(STAR, slots=slots, slot_bytes=slot_bytes):
        rig.run([casts, *[receiver(pe) for pe in (1, 2, 3)]], out)
    return out.numpy().reshape(4, 8, N)


def row(tl: Any, value: float) -> Any:
    return tl.full((N,), value, "f16")


def test_every_peer_receives_the_value_that_was_sent() -> None:
    def casts(_: Any, tl: Any) -> None:
        tl.multicast(ALL, row(tl, 3.0))
        tl.multicast(["to3", "to1"], row(tl, 5.0))

    rig = Rig(FOUR)
    found = received(rig, {1: 2, 2: 1, 3: 2}, casts)
    assert [found[pe, :2, 0].tolist() for pe in (1, 2, 3)] == [[3.0, 5.0], [3.0, 0.0], [3.0, 5.0]]
    assert np.all(found[1, 0] == 3.0)
    tokens = sorted(rig.seen.of_kind("ipcq_token"), key=lambda t: t.id)
    links = [hop.resource for t in tokens[:3] for hop in rig.seen.rows[t.id]]
    assert sum(t.split_from < 0 for t in tokens) == 2
    assert len(tokens) == 5
    assert len(set(links)) == len(links)  # of the first multicast: no link, and no router, twice
    rig.close()


@pytest.mark.parametrize("slot_bytes", [4096, 64])
def test_messages_of_a_direction_keep_their_order_around_multicasts(slot_bytes: int) -> None:
    """PE 2 reads late, so its ring is full: what goes to PE 1 behind the multicast waits with it."""

    def casts(_: Any, tl: Any) -> None:
        for number in range(6):
            if number % 2:
                tl.multicast(["to2", "to1"], row(tl, number + 1.0))
            else:
                tl.send("to1", row(tl, number + 1.0))
                tl.send("to2", row(tl, number + 11.0))

    rig = Rig(FOUR)
    slots = 2 if slot_bytes == 4096 else 4
    found = received(rig, {1: 6, 2: 6}, casts, slots, slot_bytes)
    assert found[1, :6, 0].tolist() == [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
    assert found[2, :6, 0].tolist() == [11.0, 2.0, 13.0, 4.0, 15.0, 6.0]
    rig.close()


def test_it_leaves_when_the_last_peer_has_a_slot() -> None:
    def casts(tl: Any) -> None:
        for number in range(3):
            tl.multicast(["to1", "to2"], row(tl, number + 1.0))

    def late(tl: Any) -> None:
        tl.cycles(5000)
        for _ in range(3):
            tl.recv("back")

    def soon(tl: Any) -> None:
        for _ in range(3):
            tl.recv("back")

    rig = Rig(FOUR)
    with rig.torch.install_ipcq(STAR, slots=1):
        rig.run([casts, soon, late])
    times = sorted(t.t_submit for t in rig.seen.of_kind("ipcq_token") if t.split_from < 0)
    assert times[0] < 1000
    assert times[1] > 5000  # PE 1 had room all the time
    rig.close()


def test_a_deadlock_names_the_direction_that_keeps_a_multicast() -> None:
    """PE 1 has room, but waits for what PE 2's full ring keeps back; PE 2 waits for PE 1."""

    def casts(tl: Any) -> None:
        for _ in range(3):
            tl.multicast(["to1", "to2"])

    def first(tl: Any) -> None:
        for _ in range(3):
            tl.recv("back")
        tl.send("on")

    def second(tl: Any) -> None:
        tl.recv("from1")

    rig, queues = Rig(FOUR), {**STAR}
    queues[0, 0, 1] = {**STAR[0, 0, 1], "on": (0, 0, 2)}
    queues[0, 0, 2] = {**STAR[0, 0, 2], "from1": (0, 0, 1)}
    with pytest.raises(DeadlockError) as caught, rig.torch.install_ipcq(queues, slots=1):
        rig.run([casts, first, second])
    said = str(caught.value)
    pes = " -> ".join(f"sip0.cube0.pe{pe}" for pe in (0, 2, 1, 0))
    assert f"cycle of 3: {pes}, each waits for the next" in said
    assert "'to1' to sip0.cube0.pe1: it has a slot, but its multicast has none in 'to2'" in said
    assert "waits to send 'to2' (1 slots) to sip0.cube0.pe2: 0 credits, 1 sent, 0 freed" in said


def test_a_signal_has_no_bytes_and_one_direction_is_a_send() -> None:
    def casts(tl: Any) -> None:
        tl.multicast(ALL)
        tl.multicast(["to2"], row(tl, 7.0))

    def wait(tl: Any) -> None:
        assert tl.recv("back") is None
        if tl.program_id(0) == 2:
            tl.recv("back", shape=(N,), dtype="f16")

    rig = Rig(FOUR)
    with rig.torch.install_ipcq(STAR):
        rig.run([casts, wait, wait, wait])
    assert sorted(t.nbytes for t in rig.seen.of_kind("ipcq_token")) == [0, 0, 0, 2 * N]
    rig.close()


@pytest.mark.parametrize(
    ("dirs", "said"),
    [
        ("to1", "argument 'dirs': 'to1' is not a list of directions"),
        ([], "argument 'dirs': [] is not a list of directions"),
        (["to1", "to1"], "argument 'dirs': ['to1', 'to1'] has a direction twice"),
        (["to1", "E"], "argument 'dirs': 'E' is not a direction of"),
    ],
)
def test_bad_directions_are_refused(dirs: Any, said: str) -> None:
    rig = Rig(FOUR)
    with rig.torch.install_ipcq(STAR), pytest.raises(LaunchError) as caught:
        rig.run([lambda tl: tl.multicast(dirs, row(tl, 1.0))])
    assert said in str(caught.value)


def test_finite_buffers_are_refused_with_the_line() -> None:
    rig = Rig({**FOUR, "links": {"router_mesh": {"buffer_flits": 4}}})
    with rig.torch.install_ipcq(STAR), pytest.raises(LaunchError, match="whose buffers are finite") as caught:
        rig.run([lambda tl: tl.multicast(ALL, row(tl, 1.0))])
    assert "in tl.multicast at test_multicast.py" in str(caught.value)


def kept() -> Any:
    """A run with one multicast to three, of three parts, and what two of them compute."""

    def kernel(x: int, tl: Any) -> None:
        pe = tl.program_id(0)
        if pe == 0:
            tl.multicast(ALL, tl.load(x, (3 * N,), "f16"))
        elif pe < 4:
            tl.store(x + pe * 6 * N, tl.exp(tl.recv("back", (3 * N,), "f16")))

    def bench(torch: Any) -> None:
        x = torch.zeros((4, 3 * N), dtype="f16", dp=kb.DPPolicy("row_wise", "row_wise"))
        with torch.install_ipcq(STAR, slot_bytes=2 * N):
            torch.launch("k", kernel, x).wait()

    return kb.run(bench, topo=FOUR, store="memory:", check=True)


def test_the_record_says_what_was_split_from_what_and_charges_the_source_once() -> None:
    run = kept()
    split = run.cypher(
        "MATCH (a:Use)<-[:FROM]-(leg:Transaction)-[:SPLIT_FROM]->(whole:Transaction)-[:FROM]->(b:Use) "
        "RETURN whole.kind AS kind, a.resource AS src, b.resource AS also, whole.number AS number"
    ).dicts()
    assert len(split) == 2 * 3  # three parts, each with two legs beside its trunk
    assert {(one["kind"], one["src"], one["also"]) for one in split} == {
        ("ipcq_token", "sip0.cube0.pe0.pe_dma", "sip0.cube0.pe0.pe_dma")
    }
    path = run.critical_path()
    assert sum(step.ns for step in path.steps) == pytest.approx(path.ns, abs=1e-9)
    assert not [step for step in path.steps if step.cause == "unexplained"]
    # Of what crosses links each counts once; three deliver.
    tokens = run.cypher("MATCH (t:Transaction {kind: 'ipcq_token'}) RETURN sum(t.bytes) AS n").dicts()
    assert tokens == [{"n": 3 * 6 * N}]
    read = [
        row for row in run.tables["Transaction"].to_pylist()
        if row["kind"] == "ipcq_token" and row["number"] not in run.tables["Split"]["txn"].to_pylist()
    ]  # fmt: skip
    assert sum(row["bytes"] for row in read) == 6 * N


@pytest.mark.parametrize("shape", ["torus", "fed torus"])
def test_a_sender_with_two_links_reads_its_message_once(shape: str, tmp_path: Path) -> None:
    both = '      - {pair: ["r[2,0]", "pe[0]"], wire: local}\n      - {pair: ["r[0,0]", hbm]'
    text = GRID.format(**GRIDS[shape]).replace('      - {pair: ["r[0,0]", hbm]', both)
    file = tmp_path / "two.yaml"
    file.write_text(
        f"{text}energy: {{pe_tcm: {{pj_per_byte_read: 10, pj_per_byte_write: 0}}}}\n", encoding="utf-8"
    )

    def kernel(x: Any, out: Any, tl: Any) -> None:
        if (pe := tl.program_id(0)) == 0:
            tl.multicast(["to1", "to2"], row(tl, 1.0))
        elif pe < 3:
            tl.store(out + pe * 2 * N, tl.recv("back"))

    def bench(torch: Any) -> None:
        x, out = torch.zeros((12, 16), dp=DPPolicy(pe="row_wise")), torch.zeros((3, N))
        table: Any = {(0, 0, 0): {"to1": (0, 0, 1), "to2": (0, 0, 2)}}
        with torch.install_ipcq(table | {(0, 0, pe): {"back": (0, 0, 0)} for pe in (1, 2)}):
            torch.launch("k", kernel, x, out)

    run = kb.run(bench, str(file), store="memory:", check=True)
    tokens = [t for t in run.tables["Transaction"].to_pylist() if t["kind"] == "ipcq_token"]
    assert [t["src"] for t in tokens] == ["chip.pe0.pe_dma"] * 2
    whole, other = sorted(t["number"] for t in tokens)
    assert run.tables["Split"].to_pylist() == [{"txn": other, "whole": whole}]
    at = {hop["resource"] for hop in run.tables["Hop"].to_pylist() if hop["txn"] in (whole, other)}
    assert {"chip.pe0.pe_dma->chip.r0_0", "chip.pe0.pe_dma->chip.r2_0"} <= at
    spent = {part["name"]: part["dynamic_pj"] for part in run.energy("part")["rows"]}
    assert spent["chip.pe0.pe_tcm"] == 10 * 2 * N
    path = run.critical_path()
    assert sum(step.ns for step in path.steps) == pytest.approx(path.ns, abs=1e-9)


def test_it_needs_queues() -> None:
    rig = Rig(FOUR)
    with pytest.raises((KernelError, LaunchError), match="has no queues"):
        rig.run([lambda tl: tl.multicast(ALL, row(tl, 1.0))])


def test_a_kernel_that_runs_ahead_sends_while_it_computes_and_after_what_it_has_stored() -> None:
    def sender(base: Any, tl: Any) -> None:
        x, big = row(tl, 2.0), tl.zeros((256, 256), "f16")
        tl.dot(big, big)
        tl.multicast(["to1", "to2"], x)
        tl.store(base, row(tl, 1.0))
        tl.send("to3", tl.exp(x))

    def receiver(base: Any, tl: Any) -> None:
        for _ in tl.range(0, 1, num_stages=2):
            tl.exp(tl.recv("back"))

    rig = Rig({**FOUR, "pe.pe_cpu.run_ahead": True})
    out = rig.torch.zeros((4, N), dtype="f16")
    with rig.torch.install_ipcq(STAR):
        rig.run([sender, receiver, receiver, receiver], out)
    (dot,) = (op for op in rig.seen.ops if op.stage == "GEMM")
    tokens = sorted(rig.seen.of_kind("ipcq_token"), key=lambda t: t.id)
    assert [t.split_from < 0 for t in tokens] == [True, False, True]
    assert tokens[0].t_submit < dot.t_end  # what it computes does not keep it
    (stored,) = (op for op in rig.seen.ops if op.name == "dma_write")
    assert tokens[2].t_submit >= stored.t_end
    rig.close()


def test_a_product_on_a_mesh_takes_its_blocks_along_rows_and_columns() -> None:
    """Each block of A is read once and cast along its row, each of B once and cast down its column."""
    side, steps = 16, 3
    rng = np.random.default_rng(7)
    a, b = (rng.integers(-2, 3, (n * side, side)).astype(np.float16) for n in (3 * steps, 4 * steps))

    def kernel(a: int, b: int, out: int, tl: Any) -> None:
        pe = tl.program_id(0)
        y, x = divmod(pe, 4)
        nbytes, total = 2 * side * side, tl.zeros((side, side), "f32")
        for step in range(steps):
            from_a, from_b = step % 4, step % 3
            left = above = None
            if x == from_a:
                left = tl.load(a + (y * steps + step) * nbytes, (side, side), "f16")
                tl.multicast([f"row{i}" for i in range(4) if i != x], left)
            if y == from_b:
                above = tl.load(b + (x * steps + step) * nbytes, (side, side), "f16")
                tl.multicast([f"column{i}" for i in range(3) if i != y], above)
            left = tl.recv(f"row{from_a}", (side, side), "f16") if left is None else left
            above = tl.recv(f"column{from_b}", (side, side), "f16") if above is None else above
            total = total + tl.dot(left, above, out_dtype="f32")
        tl.store(out + pe * 2 * nbytes, total)

    def bench(torch: Any) -> None:
        blocks = [torch.from_numpy(one) for one in (a, b)]
        out = torch.zeros((12 * side, side), dtype="f32", dp=kb.DPPolicy(pe="row_wise"))
        with torch.install_ipcq(["mesh_rows", "mesh_columns"]):
            torch.launch("mm", kernel, *blocks, out).wait()
        wanted = [
            sum(
                a[(y * steps + s) * side :][:side].astype(np.float32)
                @ b[(x * steps + s) * side :][:side].astype(np.float32)
                for s in range(steps)
            )
            for y in range(3)
            for x in range(4)
        ]
        assert np.array_equal(out.numpy(), np.concatenate(wanted))

    run = kb.run(bench, grid("mesh"), store="memory:", check=True, verify=True)
    sent = [row for row in run.tables["Transaction"].to_pylist() if row["kind"] == "ipcq_token"]
    split = run.tables["Split"]["txn"].to_pylist()
    assert len(sent) == steps * (3 * 3 + 4 * 2)
    assert len(sent) - len(split) == steps * (3 + 4)  # each block leaves its PE once
