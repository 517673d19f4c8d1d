"""``torch.repeat``: a few periods are simulated, and the rest of them is accounted for."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import kernbench as kb
from kernbench.analysis.windows import estimate_bounds as accounted
from kernbench.errors import KernBenchError
from tests.unit.test_alike_ranks import PLACED, exp, topo
from tools import measure_repeats

Body = Callable[[Any, int], None]


def repeated(n: int, simulate: int, ranks: bool = False, alike: bool = False) -> Callable[[Any], None]:
    def layers(torch: Any) -> None:
        x, y = (torch.zeros(64, 64, dp=PLACED) for _ in range(2))
        for _ in torch.repeat(n, simulate=simulate, name="layer"):
            torch.launch("exp", exp, x, y)
            torch.launch("back", exp, y, x)
            if ranks:
                torch.distributed.all_reduce(y)

    def bench(torch: Any) -> None:
        if not ranks:
            layers(torch)
            return
        torch.distributed.init_process_group("ahbm")
        count = torch.ahbm.device_count()
        torch.multiprocessing.spawn(lambda rank: layers(torch), nprocs=count, alike=alike)

    return bench


def ran(bench: Callable[[Any], None], sips: int = 1, **options: Any) -> kb.Run:
    return kb.run(bench, topo=topo(sips), store="memory:", **options)


def grown(run: kb.Run, bare: kb.Run, column: str) -> dict[str, float]:
    """What the periods of a run have added to the use of parts."""
    before = dict(
        zip(bare.frame("Use")["resource"].tolist(), bare.frame("Use")[column].tolist(), strict=True)
    )
    found = zip(run.frame("Use")["resource"].tolist(), run.frame("Use")[column].tolist(), strict=True)
    return {name: value - before.get(name, 0) for name, value in found}


@pytest.mark.daily("8-1-False")
@pytest.mark.parametrize(("sips", "alike"), [(1, False), (2, False), (2, True)])
@pytest.mark.parametrize("n", [8, pytest.param(31, marks=pytest.mark.slow)])
def test_n_repeats_have_n_times_the_totals_of_one(sips: int, alike: bool, n: int) -> None:
    """As the same number simulated and drained: bytes and messages exactly, times within the bar."""
    whole, part = (ran(repeated(n, k, sips > 1, alike), sips) for k in (n, 3))
    assert part.info["events"] < whole.info["events"] / 2
    for column in ("bytes", "transactions"):
        assert grown(part, whole, column) == dict.fromkeys(part.frame("Use")["resource"].tolist(), 0)
    assert part.sim_ns == pytest.approx(whole.sim_ns, rel=0.005)
    for column in ("busy_ns", "wait_ns"):
        assert sum(part.frame("Use")[column]) == pytest.approx(sum(whole.frame("Use")[column]), rel=0.005)
    periods = {k: ran(repeated(k, k, sips > 1, alike), sips) for k in (3, 4)}
    one = grown(periods[4], periods[3], "bytes")
    assert grown(part, periods[3], "bytes") == {name: (n - 3) * nbytes for name, nbytes in one.items()}


def test_the_run_says_what_was_accounted_for() -> None:
    run = ran(repeated(10, 3))
    (one,) = run.table("Repeat").to_pylist()
    assert (one["kind"], one["name"], one["simulated"], one["times"]) == ("repeat", "layer", 3, 7)
    assert one["to_ns"] - one["from_ns"] == pytest.approx(7 * one["period_ns"])
    assert one["to_ns"] <= run.sim_ns
    assert [launch.get("times", 1) for launch in run.launches] == [1, 1, 1, 1, 8, 8]
    rows = run.cypher("MATCH (:Run)-[:ACCOUNTED_FOR]->(r:Repeat) RETURN r.times AS times, r.name AS name")
    assert rows.dicts() == [{"times": 7, "name": "layer"}]


def test_all_periods_are_simulated_where_there_are_no_more() -> None:
    run = ran(repeated(3, 3))
    assert not run.table("Repeat").num_rows
    assert len(run.launches) == 6


def test_exact_is_a_plain_loop() -> None:
    def plain(torch: Any) -> None:
        x, y = (torch.zeros(64, 64, dp=PLACED) for _ in range(2))
        for _ in range(6):
            torch.launch("exp", exp, x, y)
            torch.launch("back", exp, y, x)

    assert ran(repeated(6, 3), exact=True).sim_ns == ran(plain).sim_ns


def in_repeat(body: Body, n: int = 6, simulate: int = 3, ranks: bool = False) -> Callable[[Any], None]:
    def layers(torch: Any) -> None:
        for number in torch.repeat(n, simulate=simulate):
            body(torch, number)

    def bench(torch: Any) -> None:
        if ranks:
            torch.multiprocessing.spawn(lambda rank: layers(torch), nprocs=2)
        else:
            layers(torch)

    return bench


def nothing(torch: Any, number: int) -> None:
    torch.zeros(16)


def growing(torch: Any, number: int) -> None:
    x = torch.zeros(16 * (number + 1))
    torch.launch("exp", exp, x, x)


def more(torch: Any, number: int) -> None:
    x = torch.zeros(16)
    for _ in range(number + 1):
        torch.launch("exp", exp, x, x)


def nested(torch: Any, number: int) -> None:
    for _ in torch.repeat(4):
        pass


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (nothing, r"torch.repeat at test_repeats.py:\d+: period 0 of rank 0 launches nothing"),
        (
            growing,
            r"periods 1 and 2 are not alike, launch 'exp' at test_repeats.py:\d+ and launch 'exp' at test_re",
        ),
        (more, r"periods 1 and 2 are not alike, launch 'exp' at test_repeats.py:\d+ is in period 2 only"),
        (nested, r"torch.repeat at test_repeats.py:\d+ is inside of another one"),
    ],
)
def test_what_is_no_repeat_is_refused(body: Body, words: str) -> None:
    with pytest.raises(KernBenchError, match=words):
        ran(in_repeat(body))


def test_a_rank_that_stays_away_is_refused_with_the_line_of_the_other() -> None:
    def bench(torch: Any) -> None:
        def worker(rank: int) -> None:
            x = torch.zeros(16)
            for _ in torch.repeat(4) if rank == 0 else range(4):
                torch.launch("exp", exp, x, x)

        torch.multiprocessing.spawn(worker, nprocs=2)

    with pytest.raises(
        KernBenchError, match=r"rank 0 is at boundary 0 of torch.repeat\(4\) at test_repeats.py:\d+"
    ):
        ran(bench, 2)


def test_ranks_that_repeat_unlike_numbers_are_refused() -> None:
    def bench(torch: Any) -> None:
        def worker(rank: int) -> None:
            x = torch.zeros(16)
            for _ in torch.repeat(4 + rank):
                torch.launch("exp", exp, x, x)

        torch.multiprocessing.spawn(worker, nprocs=2)

    with pytest.raises(
        KernBenchError, match=r"boundary 0 of torch.repeat\(5\).* boundary 0 of torch.repeat\(4\)"
    ):
        ran(bench, 2)


def test_what_is_left_out_cannot_be_verified() -> None:
    with pytest.raises(KernBenchError, match=r"leaves 5 of 8 periods out, so there are no values to verify"):
        ran(repeated(8, 3), verify=True)
    assert ran(repeated(3, 3), verify=True).verdict == "nothing checked"
    assert ran(repeated(8, 3), verify=True, exact=True).verdict == "nothing checked"


@pytest.mark.parametrize(
    ("n", "simulate", "words"),
    [(0, 3, "n is 0"), (True, 3, "n is True"), (4, 1, "simulate is 1"), (4, 2.0, "simulate is 2.0")],
)
def test_numbers_that_do_not_fit(n: Any, simulate: Any, words: str) -> None:
    with pytest.raises(KernBenchError, match=f"torch.repeat: {words}; give a whole number"):
        ran(in_repeat(nothing, n, simulate))


def test_a_limit_of_time_holds_for_what_is_accounted_for_too() -> None:
    with pytest.raises(KernBenchError, match="limit of 20000 ns"):
        ran(repeated(1000, 3), max_ns=20_000)


@pytest.mark.slow
def test_a_rerun_is_as_exact_as_the_run_was() -> None:
    bench = repeated(6, 3)
    with kb.open_store("memory:") as store:
        runs = [kb.run(bench, topo=topo(1), store=store, exact=exact) for exact in (True, False)]
        assert len({run.info["config_hash"] for run in runs}) == 2
        for run in runs:
            found = kb.what_if(run.id, {"kind:pe_math": 1.5}, store, bench=bench)
            again = kb.open_run(found["measured"]["run_id"], store)
            assert again.info["events"] == pytest.approx(run.info["events"], rel=0.2)


def test_exact_changes_nothing_where_nothing_is_alike() -> None:
    def bench(torch: Any) -> None:
        x = torch.zeros(64, 64, dp=PLACED)
        torch.launch("exp", exp, x, x)

    assert len({ran(bench, exact=exact).info["config_hash"] for exact in (True, False)}) == 1


@pytest.mark.daily("1-False")
@pytest.mark.parametrize(("sips", "alike"), [(1, False), (2, False), (2, True)])
def test_the_bar_covers_what_waits_at_boundaries_cost(sips: int, alike: bool) -> None:
    whole, part = (ran(repeated(16, 3, sips > 1, alike), sips, exact=exact) for exact in (True, False))
    (one,) = accounted.repeated(part.info)
    assert 0.005 < part.sim_ns / whole.sim_ns - 1 < one.bar
    assert f"+-{100 * one.bar:.1f} %" in part.info["accounted"][1]


def test_a_program_that_waits_itself_has_no_waits_of_an_estimate() -> None:
    def bench(torch: Any) -> None:
        x, y = (torch.zeros(64, 64, dp=PLACED) for _ in range(2))
        for _ in torch.repeat(9):
            torch.launch("exp", exp, x, y).wait()

    whole, part = (ran(bench, exact=exact) for exact in (True, False))
    (one,) = accounted.repeated(part.info)
    assert one.bar == accounted.LEAST_BAR
    assert part.sim_ns == pytest.approx(whole.sim_ns, rel=accounted.LEAST_BAR)


def test_a_bar_has_all_overlap_of_launches_on_different_pes() -> None:
    def bench(torch: Any) -> None:
        first, second = (torch.zeros(64, 64) for _ in range(2))
        torch.ahbm.set_device(1)
        other = torch.zeros(64, 64)
        for _ in torch.repeat(16):
            torch.launch("exp", exp, first, second)
            torch.launch("exp", exp, other, other)

    whole, part = (ran(bench, 2, exact=exact) for exact in (True, False))
    (one,) = accounted.repeated(part.info)
    assert part.sim_ns / whole.sim_ns - 1 < one.bar


def test_packages_that_are_alike_say_what_waits_cost_them() -> None:
    def bench(torch: Any) -> None:
        def worker(rank: int) -> None:
            x, y = (torch.zeros(64, 64, dp=PLACED) for _ in range(2))
            for _ in range(4):
                torch.launch("exp", exp, x, y)
                torch.distributed.all_reduce(y)

        torch.distributed.init_process_group("ahbm")
        torch.multiprocessing.spawn(worker, nprocs=2, alike=True)

    whole, part = (ran(bench, 2, exact=exact) for exact in (True, False))
    (one,) = part.table("Repeat").to_pylist()
    assert part.sim_ns > whole.sim_ns
    assert one["least_ns"] == pytest.approx(whole.sim_ns, rel=0.05)
    (bar,) = re.findall(r"\+-(\S+) %: \S+ ns or more", part.info["accounted"][1])
    assert part.sim_ns / whole.sim_ns - 1 < float(bar) / 100


@pytest.mark.slow
@pytest.mark.parametrize(("packages", "batch"), [(1, 1), (2, 1), (4, 1)])
def test_the_bar_covers_the_error_of_layers_of_a_model(packages: int, batch: int, tmp_path: Path) -> None:
    config = tmp_path / "config.json"
    config.write_text(json.dumps(measure_repeats.MODEL), encoding="utf-8")
    (whole, _), (part, _) = (
        measure_repeats.ran(packages, batch, str(config), exact) for exact in (True, False)
    )
    (one,) = accounted.repeated(part.info)
    assert abs(part.sim_ns / whole.sim_ns - 1) <= one.bar
    assert 16 * one.least_ns == pytest.approx(whole.sim_ns, rel=0.01)
