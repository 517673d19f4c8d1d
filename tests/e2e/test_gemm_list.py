"""A list of products as SCALE-Sim has them runs layer by layer with right values; or a line is refused."""

from __future__ import annotations

import pytest

import kernbench as kb
from kernbench.errors import UsageError

LIST = "Layer,M,N,K,\nqkv,40,96,33,\n\nup,1,200,64,\nlong,300,32,1500,\n"


@pytest.fixture
def listed(tmp_path):
    def write(text):
        path = tmp_path / "layers.csv"
        path.write_text(text)
        return str(path)

    return write


@pytest.mark.parametrize("topology", ["minimal", "a100-4"])
def test_each_layer_is_a_launch_with_the_right_values(listed, topology):
    run = kb.run("gemm-list", topology, verify=True, params={"file": listed(LIST)}, trace=False)
    assert run.info["verified"] is True
    assert [launch["kernel"] for launch in run.launches] == ["qkv", "up", "long"]


def test_one_layer_begins_when_the_last_is_over(listed):
    params = {"file": listed(LIST), "resident": True}
    run = kb.run("gemm-list", "minimal", params=params, trace=False)
    first, second, third = run.launches
    assert first["t_done"] <= second["t_start"] < second["t_done"] <= third["t_start"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("Layer,M,N,K,\na,1,0,3,\n", r"line 2: a,1,0,3, is not Layer, M, N, K, each 1 or more"),
        ("Layer,M,N,K,\na,1,2,3\nb,1,2\n", r"line 3: b,1,2 is not Layer, M, N, K"),
        ("Layer,M,N,K,\na,1,2,3,4:2\n", r"line 2: a,1,2,3,4:2 is not Layer"),
        ("Layer,M,N,K,\na,1,2,x\n", r"line 2: invalid literal .*'x'"),
        ("Layer, M, N, K, Sparsity,\na,1,2,3,1:4,\n", r"line 1: these are not its columns"),
        ("Layer name, IFMAP Height, IFMAP Width\n", r"line 1: these are not its columns"),
        ("Layer,M,N,K\n", r"lists no products"),
        ("", r"line 1: these are not its columns"),
    ],
)
def test_what_is_not_taken_is_said_with_its_line(listed, text, message):
    with pytest.raises(UsageError, match=rf"layers\.csv.*{message}"):
        kb.run("gemm-list", "minimal", params={"file": listed(text)}, trace=False)


def test_a_file_that_is_none():
    with pytest.raises(UsageError, match=r"missing\.csv: cannot be read: it does not exist"):
        kb.run("gemm-list", "minimal", params={"file": "missing.csv"}, trace=False)
