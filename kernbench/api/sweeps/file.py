"""Reads a file that describes a sweep."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from pydantic import Field, ValidationError

from kernbench.errors import UsageError
from kernbench.hardware.topology.fields import Section
from kernbench.hardware.topology.marked_yaml import load_mapping
from kernbench.hardware.topology.problems import from_pydantic, report
from kernbench.support.input_files import input_text


class SweepPointSection(Section):
    """A point of its own, or a grid where its values are lists."""

    topology: str | list[str] | None = Field(default=None, description="a file or the name of a shipped one")
    set: dict[str, Any] = Field(default_factory=dict, description="bench parameters")
    topo: dict[str, Any] = Field(default_factory=dict, description="keys of the topology")


class SweepFile(SweepPointSection):
    """A sweep: what is common to its points, and the values that they go through."""

    bench: str | None = Field(default=None, description="name of a bench, or file.py[:name]")
    device: str | None = Field(default=None, description="all or sip:N")
    verify: bool = Field(default=False, description="check the values that each point computes")
    tags: list[str] | None = Field(default=None, description="tags of the kept runs")
    phases: int = Field(default=1, ge=1, le=1000, description="phases of refresh at which points run")
    exact: bool = Field(default=False, description="simulate every rank and period, identical ones too")
    points: list[SweepPointSection] | None = Field(default=None, description="points instead of one grid")


def read_sweep(path: str | os.PathLike[str]) -> SweepFile:
    """The sweep in a YAML file (JSON is YAML).

    Benches and topologies that are files are sought from the working directory, then beside the file.
    :class:`ConfigError` has a line for each mistake; a file that is not there is a :class:`UsageError`.
    """
    file = Path(path).expanduser()
    text = input_text(file, "a sweep file (YAML), or use --bench", UsageError)
    data, marked = load_mapping(text, str(file))
    try:
        spec = SweepFile.model_validate(data)
    except ValidationError as error:
        raise report(from_pydantic(error, SweepFile), str(file), marked, {}) from None
    return spec.model_copy(
        update={
            "bench": _beside(file, spec.bench),
            "topology": _all_beside(file, spec.topology),
            "points": spec.points
            and [
                point.model_copy(update={"topology": _all_beside(file, point.topology)})
                for point in spec.points
            ],
        }
    )


def _all_beside(file: Path, topology: str | list[str] | None) -> str | list[str] | None:
    if isinstance(topology, list):
        return [_beside(file, one) or one for one in topology]
    return _beside(file, topology)


def _beside(file: Path, name: str | None) -> str | None:
    """``name``, or the path of that file beside the sweep file if it is only there."""
    if name is None:
        return None
    path, colon, inside = name.partition(":")
    near = file.parent / path
    if not Path(path).expanduser().exists() and near.is_file():
        return f"{near}{colon}{inside}"
    return name
