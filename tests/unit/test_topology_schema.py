"""The JSON Schema of topology files takes what the loader takes, and finds misspelt keys."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from kernbench.hardware.topology.spec import schema
from kernbench.support.data_files import shipped_topologies

jsonschema = pytest.importorskip("jsonschema")


@pytest.fixture(scope="module")
def validator() -> Any:
    return jsonschema.Draft202012Validator(schema())


@pytest.mark.parametrize("path", shipped_topologies().values(), ids=list(shipped_topologies()))
def test_shipped_topologies_fit_it(path: Path, validator: Any) -> None:
    validator.validate(yaml.safe_load(path.read_text("utf-8")))


@pytest.mark.parametrize(
    ("cube", "at"),
    [
        ({"router": {"link_gbps": 128.0}}, ["cube", "router"]),
        ({"hbm": {"capacity_bytes": "6 GB"}}, ["cube", "hbm", "capacity_bytes"]),
        ({"hbm": {"model": "dramm"}}, ["cube", "hbm", "model"]),
    ],
)
def test_it_says_where_a_mistake_is(cube: dict[str, Any], at: list[str], validator: Any) -> None:
    (error,) = validator.iter_errors({"name": "wrong", "cube": cube})
    assert list(error.absolute_path) == at
