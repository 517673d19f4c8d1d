"""Data inside a PE cross its links: they are counted there, and a slow link slows."""

from __future__ import annotations

from typing import Any

import pytest

from kernbench.engine.machine.machine import Machine
from kernbench.language import KernelCall
from kernbench.values import DataPlane
from tests.compiled import compiled
from tests.exact.test_pe_pipeline import TILE_NS, Bench, near

PE = "sip0.cube0.pe0"


def carried(machine: Machine) -> dict[str, tuple[int, float]]:
    """Bytes and busy ns of the links between parts of the PE that moved data."""
    links = [link for (a, b), link in machine.links.items() if a.startswith(PE) and b.startswith(PE)]
    return {
        link.resource.replace(f"{PE}.pe_", ""): (link.bytes, link.busy_ns) for link in links if link.bytes
    }


def test_each_link_counts_what_crosses_it() -> None:
    machine, data = Machine(compiled("minimal"), check=True), DataPlane()
    a, b, out = (machine.addresses.hbm(0, 0, 0, i << 20) for i in range(3))

    def kernel(tl: Any) -> None:
        x, y = tl.load(a, shape=(32, 64), dtype="f16"), tl.load(b, shape=(64, 32), dtype="f16")
        tl.store(out, tl.exp(tl.dot(x, y)))

    machine.wait(machine.launch(KernelCall(kernel, (), data=data), [(0, 0, 0)]))
    matrix, product = 32 * 64 * 2, 32 * 32 * 2
    ns = {"matrix": matrix / 512, "product": product / 512}
    found = carried(machine)
    both = (2 * matrix, 2 * ns["matrix"])
    one = (product, ns["product"])
    assert found.pop("dma->tcm") == both
    assert found.pop("tcm->dma") == one
    assert found.pop("tcm->fetch_store") == (2 * matrix + product, 2 * ns["matrix"] + ns["product"])
    assert found.pop("fetch_store->gemm") == both
    assert found.pop("gemm->fetch_store") == one
    assert found.pop("fetch_store->math") == one
    assert found.pop("math->fetch_store") == one
    assert found.pop("fetch_store->tcm") == (2 * product, 2 * ns["product"])
    assert not found


def dot(a: int, b: int, out: int, tl: Any) -> None:
    tl.dot(tl.zeros((32, 64)), tl.zeros((64, 32)))


def load(a: int, b: int, out: int, tl: Any) -> None:
    tl.load(a, shape=(64, 64), dtype="f16")


def store(a: int, b: int, out: int, tl: Any) -> None:
    tl.store(out, tl.full((64, 64), 1.0, dtype="f16"))


def small(a: int, b: int, out: int, tl: Any) -> None:
    tl.store(out, tl.load(a, shape=(8,), dtype="f16"))


@pytest.mark.daily("512.0-*")
@pytest.mark.parametrize("kernel", [dot, load, store, small])
@pytest.mark.parametrize("gbs", [512.0, 4096.0])
def test_links_as_fast_as_the_ports_add_no_time(kernel: Any, gbs: float) -> None:
    assert Bench(pe__links__internal_gbs=gbs).run(kernel)[0] == near(Bench().run(kernel)[0])


@pytest.mark.daily("128.0")
@pytest.mark.parametrize("gbs", [64.0, 128.0])
def test_a_slow_link_takes_its_time_once_on_the_way(gbs: float) -> None:
    fetch, product = 2 * 32 * 64 * 2, 32 * 32 * 2
    assert Bench(pe__links__internal_gbs=gbs).run(dot)[0] == near((fetch + product) / gbs + TILE_NS)
    # DMA: the bytes stream through the slow link while they stream through the fabric.
    fast, slow = Bench(), Bench(pe__links__internal_gbs=gbs)
    nbytes = 64 * 64 * 2
    # The router's 2 ns for the first flit of a store pass while the TCM feeds the others.
    for kernel, hidden in ((load, 0.0), (store, 2.0)):
        assert slow.run(kernel)[0] == near(fast.run(kernel)[0] + nbytes / gbs - nbytes / 256.0 - hidden)


def test_a_command_takes_the_flight_time_of_its_link() -> None:
    # No shipped machine has wires of any length within a PE.
    near_by, far = Bench(), Bench()
    far.machine.links[f"{PE}.pe_cpu", f"{PE}.pe_scheduler"].delay_ns = 2.5
    assert far.run(dot)[0] == near(near_by.run(dot)[0] + 2.5)
