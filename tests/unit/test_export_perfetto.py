"""``Run.to_perfetto``: read back with Perfetto's own messages and compared with the archive."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import kernbench as kb
from kernbench.errors import UsageError
from tests.perfetto_traces import Trace, read


@pytest.fixture(scope="module")
def gemm() -> kb.Run:
    return kb.run("qkv-gemm", "minimal", store="memory:")


@pytest.fixture(scope="module")
def whole(gemm: kb.Run, tmp_path_factory: pytest.TempPathFactory) -> Trace:
    file = tmp_path_factory.mktemp("perfetto") / "run.pftrace"
    assert gemm.to_perfetto(file, "run", links=True, waits=True, ticks="ps") == [str(file)]
    return read(file)


def _rows(run: kb.Run, table: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = run.tables[table].to_pylist()
    return rows


def test_every_operation_is_a_slice_at_its_engine_with_exact_times(gemm: kb.Run, whole: Trace) -> None:
    keys = ("op", "bytes", "flops", "t_start", "t_end", "waited_ns", "source")
    found = Counter((".".join(s.path), s.name, *(s.args[k] for k in keys)) for s in whole.of("op"))
    assert found == Counter(
        (
            o["component"], o["label"] or o["name"], o["number"], o["bytes"], o["flops"], o["t_start"],
            o["t_end"], o["t_start"] - o["t_ready"], o["source"],
        )
        for o in _rows(gemm, "Op")
    )  # fmt: skip


def test_every_message_crossing_and_wait_is_a_slice(gemm: kb.Run, whole: Trace) -> None:
    messages = whole.of("to")
    assert Counter((s.args["transaction"], s.name, s.args["t_start"], s.args["t_end"]) for s in messages) == (
        Counter((t["number"], t["kind"], t["t_submit"], t["t_done"]) for t in _rows(gemm, "Transaction"))
    )
    hops = [
        (s.args["transaction"], s.args["seq"], s.args["t_start"], s.args["t_end"]) for s in whole.of("seq")
    ]
    assert Counter(hops) == Counter(
        (h["txn"], h["seq"], h["t_start"], h["t_out"]) for h in _rows(gemm, "Hop")
    )
    waits = [
        (s.args["transaction"], s.args["holder"], s.args["t_start"], s.args["ns"]) for s in whole.of("holder")
    ]
    assert Counter(waits) == Counter(
        (w["txn"], w["holder"], w["t_from"], w["ns"]) for w in _rows(gemm, "WaitedFor")
    )
    assert waits


def test_a_tick_is_a_picosecond_where_asked(whole: Trace) -> None:
    for one in whole.of("t_end"):
        assert one.begin == round(one.args["t_start"] * 1000)
        assert one.end == round(one.args["t_end"] * 1000)


def test_arrows_follow_causes(gemm: kb.Run, whole: Trace) -> None:
    at = {s.args["op"]: number for number, s in enumerate(whole.slices) if "op" in s.args}
    arrows = whole.arrows()
    for edge in _rows(gemm, "DependsOn"):
        pair = at[edge["on"]], at[edge["op"]]
        assert pair in arrows or pair[::-1] in arrows
    sent = {s.args["transaction"]: number for number, s in enumerate(whole.slices) if "to" in s.args}
    for message in _rows(gemm, "Transaction"):
        if message["op"] >= 0:
            pair = at[message["op"]], sent[message["number"]]
            assert pair in arrows or pair[::-1] in arrows


def test_a_wait_comes_from_the_holder_of_the_place(gemm: kb.Run, whole: Trace) -> None:
    arrows = whole.arrows()
    crossed = 0
    for number, wait in enumerate(whole.slices):
        if "holder" not in wait.args:
            continue
        sources = [whole.slices[a] for a, b in arrows if b == number]
        sources += [whole.slices[b] for a, b in arrows if a == number]
        assert [s.args["transaction"] for s in sources] == [wait.args["holder"]]
        crossed += "seq" in sources[0].args
    assert crossed


def test_bandwidth_over_time_is_the_bytes_that_went_through(gemm: kb.Run, whole: Trace) -> None:
    kinds = {u["resource"]: u["kind"] for u in _rows(gemm, "Use")}
    moved: Counter[str] = Counter()
    for hop in _rows(gemm, "Hop"):
        if hop["t_out"] > hop["t_start"]:
            moved[kinds[hop["resource"]]] += hop["bytes"]
    counted = {path: samples for path, samples in whole.counters.items() if path[0] == "bandwidth"}
    assert len(counted) > 3
    for path, samples in counted.items():
        steps = pairwise(samples)
        nbytes = sum(value * (after - now) / 1000 for (now, value), (after, _) in steps)
        assert nbytes == pytest.approx(moved[path[1].removesuffix(" bandwidth")], rel=1e-3)
        assert samples[-1][1] == 0.0
        assert whole.units[path] == "GB/s"


def test_queues_and_tcm_go_up_and_come_down_again(whole: Trace) -> None:
    held = {
        path: samples for path, samples in whole.counters.items() if path[-1].endswith((" queue", " held"))
    }
    assert {path[-1] for path in held} >= {"pe_tcm held", "pe_dma queue"}
    for samples in held.values():
        assert max(value for _, value in samples) > 0
        assert min(value for _, value in samples) == 0
        assert samples[-1][1] == 0


def test_tracks_are_the_machines(whole: Trace) -> None:
    paths = {s.path for s in whole.slices}
    assert {("run",), ("launches",), ("host", "cpu"), ("sip0", "cube0", "pe0", "kernel")} <= paths
    top = sorted((rank, path[0]) for path, rank in whole.order.items() if len(path) == 1)
    assert [name for _, name in top][:4] == ["run", "launches", "bandwidth", "host"]


def test_by_default_the_launches_from_time_zero_without_links(gemm: kb.Run, tmp_path: Path) -> None:
    trace = read(gemm.to_perfetto(tmp_path / "deep" / "run.pftrace")[0])
    launch = gemm.launches[0]
    (shown,) = (s for s in trace.slices if s.path == ("launches",))
    assert (shown.begin, shown.end) == (0, round(launch["t_done"] - launch["t_start"]))
    assert shown.args["pes"] == launch["pes"]
    assert not trace.of("seq")
    assert not trace.of("holder")
    inside = [o for o in _rows(gemm, "Op") if o["launch"] == 0]
    assert {s.args["op"] for s in trace.of("op")} == {o["number"] for o in inside}
    (about,) = (s for s in trace.slices if s.path == ("run",))
    assert about.args["bench"] == "qkv-gemm"
    assert about.args["run"] == gemm.id


def test_the_same_run_gives_the_same_bytes(gemm: kb.Run, tmp_path: Path) -> None:
    files = [Path(gemm.to_perfetto(tmp_path / name, links=True, waits=True)[0]) for name in ("a", "b")]
    assert files[0].read_bytes() == files[1].read_bytes()


def test_a_stretch_of_time_cuts_what_reaches_beyond_it(gemm: kb.Run, tmp_path: Path) -> None:
    launch = gemm.launches[0]
    begin, end = launch["t_start"] + 50, launch["t_start"] + 90
    trace = read(gemm.to_perfetto(tmp_path / "x", "run", begin, end, links=True)[0])
    assert trace.of("op")
    for one in trace.slices:
        assert 0 <= one.begin <= one.end <= 40
        assert one.args.get("t_start", begin) <= end
        assert one.args.get("t_end", end) >= begin


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"ticks": "fs"}, "use ns or ps"),
        ({"launch": 7}, "no launch 7"),
        ({"from_ns": 1e9}, "the time range .* is empty"),
    ],
)
def test_wrong_settings_are_errors_and_leave_no_file(
    gemm: kb.Run, tmp_path: Path, settings: dict[str, Any], words: str
) -> None:
    with pytest.raises(UsageError, match=words):
        gemm.to_perfetto(tmp_path / "x", **settings)
    assert not list(tmp_path.iterdir())


def test_a_folder_and_a_run_without_trace_are_refused(gemm: kb.Run, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is a folder; name a file"):
        gemm.to_perfetto(tmp_path)
    bare = kb.run("gemm-single-pe", "minimal", trace=False, params={"m": 8, "k": 8, "n": 8})
    with pytest.raises(UsageError, match="no trace"):
        bare.to_perfetto(tmp_path / "x")
