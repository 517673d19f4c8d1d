"""``Run.to_npe``: read back as its viewer reads it, and compared with the archive and the machine."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, TypeAdapter

import kernbench as kb
from kernbench.errors import UsageError
from kernbench.export.npe import STEPS, Cubes

BUSY = {"NOC0_EAST": (0, 1), "NOC0_SOUTH": (1, 0), "NOC1_NORTH": (-1, 0), "NOC1_WEST": (0, -1)}


@pytest.fixture(scope="module")
def run() -> kb.Run:
    return kb.run("pe2pe", "minimal", store="memory:", topo={"cube.pes.count": 4})


@pytest.fixture(scope="module")
def file(run: kb.Run, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    path = tmp_path_factory.mktemp("npe") / "x.json"
    assert run.export("npe", path) == [str(path)]
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


Link = Literal[
    "NOC1_NORTH", "NOC0_SOUTH", "NOC0_EAST", "NOC1_WEST", "NOC0_IN", "NOC0_OUT", "NOC1_IN", "NOC1_OUT"
]
Network = Literal["NOC0", "NOC1"]
At = Annotated[list[int], Field(min_length=3, max_length=3)]
Percent = Annotated[float, Field(ge=0.0, le=100.0)]


class Share(Strict):
    avg_link_demand: Percent
    avg_link_util: Percent
    max_link_demand: Percent


class Common(Strict):
    version: Literal["1.0.0"]
    arch: str
    mesh_device: str
    device_name: str
    congestion_model_name: str
    cycles_per_timestep: Annotated[int, Field(ge=1)]
    num_rows: Annotated[int, Field(ge=1, le=12)]
    num_cols: Annotated[int, Field(ge=1, le=10)]
    link_util: Percent
    link_demand: Percent
    max_link_demand: Percent
    noc: dict[Network, Share]


class Route(Strict):
    device_id: int
    src: At
    dst: list[At]
    noc_type: Network
    injection_rate: Annotated[float, Field(ge=0.0)]
    start_cycle: int
    end_cycle: int
    links: list[Annotated[list[Any], AfterValidator(lambda one: _link(one, 4))]]


class Transfer(Strict):
    id: int
    noc_event_type: str
    fabric_event_type: bool
    total_bytes: int
    src: At
    dst: list[At]
    start_cycle: int
    end_cycle: int
    route: Annotated[list[Route], Field(min_length=1)]


class Step(Strict):
    start_cycle: int
    end_cycle: int
    active_transfers: list[int]
    avg_link_demand: Percent
    avg_link_util: Percent
    noc: dict[Network, Share]
    link_demand: list[Annotated[list[Any], AfterValidator(lambda one: _link(one, 5))]]


class NpeData(Strict):
    """The types of the viewer's ``NPEModel.ts``, less what it does without: zones, and the use of DRAM and of
    multicasts, for which it looks only where a file has them."""

    common_info: Common
    chips: dict[str, Annotated[list[int], Field(min_length=4, max_length=4)]]
    noc_transfers: Annotated[list[Transfer], Field(min_length=1)]
    timestep_data: Annotated[list[Step], Field(min_length=1)]


def _link(one: list[Any], length: int) -> list[Any]:
    assert len(one) == length
    TypeAdapter(At).validate_python(one[:3], strict=True)
    TypeAdapter(Link).validate_python(one[3])
    return one


def test_it_has_the_types_that_the_viewer_reads(file: dict[str, Any]) -> None:
    NpeData.model_validate(file)
    drawn = {int(chip) for chip in file["chips"]}
    for one in file["noc_transfers"]:
        assert {at[0] for at in (one["src"], *one["dst"])} <= drawn
        for part in one["route"]:
            assert {link[0] for link in part["links"]} == {part["device_id"]}
            assert {link[3][:4] for link in part["links"]} == {part["noc_type"]}


def test_each_network_has_figures_of_its_own(file: dict[str, Any]) -> None:
    """Together they make those of both; the busiest link of a step is in one of them."""
    busy = 0
    for step in file["timestep_data"]:
        of = step["noc"]
        busiest = max((one[4] for one in step["link_demand"]), default=0.0)
        assert max(of[name]["max_link_demand"] for name in of) == busiest
        low, high = sorted(of[name]["avg_link_demand"] for name in of)
        assert low - 1e-9 <= step["avg_link_demand"] <= high + 1e-9
        busy += low != high
    assert busy
    whole = file["common_info"]
    for name, of in whole["noc"].items():
        assert of["max_link_demand"] == max(s["noc"][name]["avg_link_demand"] for s in file["timestep_data"])
        mean = [s["noc"][name]["avg_link_demand"] for s in file["timestep_data"]]
        assert min(mean) <= of["avg_link_demand"] <= max(mean)


def router(at: list[int]) -> str:
    return f"sip0.cube{at[0]}.r{at[1]}c{at[2]}"


def test_it_is_what_the_viewer_asks_for(file: dict[str, Any]) -> None:
    """Its ``validateNpeData``, and the keys that it reads."""
    assert {"common_info", "noc_transfers", "timestep_data", "chips"} <= file.keys()
    assert file["common_info"]["version"] == "1.0.0"
    assert file["noc_transfers"]
    assert len(file["timestep_data"]) == STEPS
    ids = {one["id"] for one in file["noc_transfers"]}
    for step in file["timestep_data"]:
        assert set(step["active_transfers"]) <= ids
        assert all(len(one) == 5 for one in step["link_demand"])
    assert file["chips"] == {"0": [0, 0, 0, 0]}


def test_every_link_is_one_of_the_machine(file: dict[str, Any], run: kb.Run) -> None:
    links = set(run.topology_record().tables["Link"]["name"].to_pylist())
    seen = 0
    for step in file["timestep_data"]:
        for *at, name, _ in step["link_demand"]:
            if name in BUSY:
                to = [at[0], at[1] + BUSY[name][0], at[2] + BUSY[name][1]]
                assert f"{router(at)}->{router(to)}" in links
                seen += 1
            else:
                end = "->" + router(at) if name.endswith("IN") else router(at) + "->"
                assert any(link.endswith(end) or link.startswith(end) for link in links)
    assert seen


def test_demand_is_utilisation(file: dict[str, Any], run: kb.Run) -> None:
    start = run.window("all").spans[0][0]
    compared = 0
    for step in file["timestep_data"][::16]:
        begin, end = (start + step[key] / 1000 for key in ("start_cycle", "end_cycle"))
        if not step["link_demand"]:
            continue
        used = run.use("all", begin, end)
        shares = dict(zip(used["resource"].tolist(), used["utilisation"].tolist(), strict=True))
        for *at, name, demand in step["link_demand"]:
            if name in BUSY:
                to = [at[0], at[1] + BUSY[name][0], at[2] + BUSY[name][1]]
                # Edges are rounded to a picosecond in the file.
                assert demand / 100 == pytest.approx(shares[f"{router(at)}->{router(to)}"], abs=0.01)
                compared += 1
    assert compared


def test_routes_and_times_are_those_of_the_archive(file: dict[str, Any], run: kb.Run) -> None:
    window = run.window("all")
    start, end = window.spans[0][0], window.spans[-1][1]
    hops = [
        row
        for row in run.tables["Hop"].to_pylist()
        if "->" in row["resource"]
        and row["bytes"] > 0
        and row["t_out"] > start + 1e-9
        and row["t_start"] < end
    ]
    sent = {row["number"]: row for row in run.tables["Transaction"].to_pylist()}
    for one in file["noc_transfers"]:
        own = [row for row in hops if row["txn"] == one["id"] and ".r" in row["resource"]]
        links = [link for part in one["route"] for link in part["links"]]
        if own:
            assert len(links) == len(own)
            assert one["start_cycle"] == round((min(row["t_start"] for row in own) - start) * 1000)
            assert one["end_cycle"] == round((max(row["t_out"] for row in own) - start) * 1000)
        assert one["total_bytes"] == sent[one["id"]]["bytes"]
        for part in one["route"]:
            assert part["links"][0][:3] == part["src"]
            for before, after in zip(part["links"], part["links"][1:], strict=False):
                step = BUSY.get(before[3], (0, 0))
                assert [before[1] + step[0], before[2] + step[1]] == after[1:3]
    assert any(
        link[3] in BUSY for one in file["noc_transfers"] for part in one["route"] for link in part["links"]
    )


def test_what_the_format_cannot_hold_is_an_error(run: kb.Run, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="12 rows and 10 columns of routers"):
        Cubes(1, 1).place("sip0.cube0.r12c0->sip0.cube0.r12c1")
    with pytest.raises(UsageError, match="nothing crossed a mesh"):
        run.export("npe", tmp_path / "x.json", "run", 0.0, 0.001)
    assert not (tmp_path / "x.json").exists()


def test_cubes_are_drawn_where_they_lie() -> None:
    cubes = Cubes(4, 16)
    assert cubes.core("sip1.cube5.r2c3") == (21, 2, 3)
    assert cubes.chips({0, 5, 16}) == {"0": [0, 0, 0, 0], "5": [1, 1, 0, 0], "16": [5, 0, 0, 0]}
    assert cubes.place("sip0.cube0.r0c5->sip0.cube0.ucie-E.conn0") is None
    assert cubes.place("sip0.cube0.r0c0") is None
    assert cubes.place("sip0.cube0.pe0.pe_dma->sip0.cube0.r0c0").name == "NOC0_IN"  # type: ignore[union-attr]
    assert cubes.place("sip0.cube0.r0c0->sip0.cube0.hbm_ctrl.pe0").name == "NOC1_OUT"  # type: ignore[union-attr]
