"""Files of flows: three formats that say the same, and errors that name file, line or entry, and key."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kernbench.errors import ConfigError, UsageError
from kernbench.workloads.probes.traffic_file import read_flows
from kernbench.workloads.probes.traffic_flow import KEYS, Flow, make_flows

ENTRY = st.fixed_dictionaries(
    {
        "src": st.sampled_from(["host", "sip0.cube0.pe0", "sip1.cube3.m_cpu"]),
        "dst": st.sampled_from(["sip0.cube0.sram", "sip0.cube0.hbm_ctrl.pe1"]),
        "bytes": st.integers(1, 1 << 50),
    },
    optional={
        "op": st.sampled_from(["read", "write"]),
        "offset": st.integers(0, 1 << 40),
        "start_ns": st.floats(0, 1e9),
        "count": st.integers(1, 1000),
        "period_ns": st.integers(0, 1000),
    },
)


def as_csv(entries: list[dict[str, Any]]) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, KEYS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(entries)
    return text.getvalue()


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(entries=st.lists(ENTRY, max_size=5), wrapped=st.booleans())
def test_all_formats_give_the_same_flows(
    tmp_path: Path, entries: list[dict[str, Any]], wrapped: bool
) -> None:
    texts = {
        "f.yaml": yaml.safe_dump({"flows": entries} if wrapped else entries),
        "f.YML": yaml.safe_dump(entries, default_flow_style=True),
        "f.json": json.dumps({"flows": entries} if wrapped else entries),
        "f.csv": as_csv(entries),
    }
    wanted = [Flow(**{"name": f"flow{n}", **entry}) for n, entry in enumerate(entries, 1)]
    for name, text in texts.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
        assert read_flows(tmp_path / name) == wanted
    assert make_flows((flow.entry(), flow.where) for flow in wanted) == wanted


GOOD = "- {src: host, dst: sip0.cube0.sram, bytes: 1}\n"

WRONG = {
    "f.yaml": [
        (GOOD + "- src: host\n  dst: x\n  bytes: 0\n", "4: flow 2: bytes: is 0, expected at least 1"),
        (GOOD + "- src: host\n  dst: x\n", "2: flow 2: bytes: is missing, expected a value"),
        (GOOD + "- src: host\n  dst: x\n  bytes: 1.5\n", "4: flow 2: bytes: is 1.5, expected an integer"),
        (GOOD + "- {src: host, dst: x, bytes: 1,\n   op: copy}\n",
         "3: flow 2: op: is the text 'copy', expected 'read' or 'write'"),
        ("- {src: host, dst: x, bytes: 1, start_ns: .nan}\n", "1: flow 1: start_ns: is nan, expected"),
        ("- {src: host, dst: x, bytes: 1, start_ns: 1e18}\n", "1: flow 1: start_ns: is 1e+18, expected"),
        (f"- {{src: host, dst: x, bytes: 1{'0' * 400}}}\n", "1: flow 1: bytes: is 1000"),
        ("- {src: host, dst: x, bytes: 1, count: 5,\n   period_ns: 5e11}\n",
         "2: flow 1: period_ns: is 5e+11, so the last of 5 transfers starts at 2e+12 ns, expected 1e+12 ns"),
        ("- {src: host, dst: x, bytes: 1, start_ns: -1}\n", "1: flow 1: start_ns: is -1, expected"),
        ("- {src: host, dst: x, bytes: true}\n", "1: flow 1: bytes: is true, expected an integer"),
        ("- {src: 7, dst: x, bytes: 1}\n", "1: flow 1: src: is 7, expected a text"),
        ("- {src: host, dst: x, bytes: 1, size: 1}\n", "1: flow 1: size: unknown key, expected one of"),
        ("- {src: host, dst: x, bytes: 1, by: 1,\n   cuont: 2}\n", "1: flow 1: by: unknown key"),
        ("- host\n", "1: flow 1: is 'host', expected a mapping with src"),
        ("flows:\n- {src: host,\n   dst: x, bytes: no}\n", "3: flow 1: bytes: is false"),
        ("flow: []\n", "1: expected a list of flows"),
        ("- {src: host, src: host}\n", "1: 0.src: key given twice"),
        ("- {src: [\n", "2: bad YAML"),
        (
            "- {src: host, dst: x, bytes: 1, name: a}\n- {src: host, dst: x, bytes: 1,\n   name: a}\n",
            "3: flow 2: name: 'a' is the name of flow 1, expected another",
        ),
    ],
    "f.json": [
        ('[{"src": "host"}]', " flow 1: dst: is missing"),
        ('[{"src": "host", "dst": "x", "bytes": 1},\n{"src": "host", "dst": "x", "bytes": "k"}]',
         " flow 2: bytes: is the text 'k', expected an integer"),
        ('[\n{"src": }]', "2: bad JSON"),
        ('[{"src": "a", "src": "b"}]', " src: key given twice"),
        ('"flows"', " expected a list of flows"),
        ("[" * 100_000, " bad JSON: nested too deeply"),
        ('[{"bytes": 1' + "0" * 5000 + "}]", " bad JSON: a number has too many digits"),
        ('[{"src": "host", "dst": "x", "bytes": Infinity}]', " flow 1: bytes: is inf, expected"),
    ],
    "f.csv": [
        ("src,dst,bytes\nhost,x,1\n\nhost,x,0\n", "4: bytes: is 0, expected"),
        ("src,dst\nhost,x\n", "1: bytes: no such column"),
        ("src,dst,bytes\nhost,x\n", "2: has 2 cells, expected 3"),
        ("src,dst,bytes,bytes\nhost,x,1,1\n", "1: a column is named twice"),
        ("src,dst,bytes,cuont\nhost,x,1,1\n", "2: cuont: unknown key, did you mean 'count'?"),
        ("src,dst,bytes\n,x,1\n", "2: src: is missing"),
        ("\nsrc,dst,bytes,\nhost,x,1,\nhost,x,1,9\n", "4: '9' is in a column without a name, name it"),
        ('src,dst,bytes\n"host,x,1\n', "2: bad CSV"),
        ("src,dst,bytes\nhost,x,1e999\n", "2: bytes: is the text '1e999', expected an integer"),
        ("src,dst,bytes,count\nhost,x,1,1e7\n", "2: count: is 10000000, expected at most 1000000"),
        ("src,dst,bytes\nhost,x,ten\n", "2: bytes: is the text 'ten', expected an integer"),
        ('src,dst,bytes,name\nhost,x,1,"a\nb"\nhost,x,,c\n', "4: bytes: is missing"),
    ],
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "text", "message"), [(n, *case) for n, cases in WRONG.items() for case in cases]
)
def test_mistakes_are_placed(tmp_path: Path, name: str, text: str, message: str) -> None:
    file = tmp_path / name
    file.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError) as wrong:
        read_flows(file)
    assert str(wrong.value).startswith(f"{file}:{message}")
    assert "\n" not in str(wrong.value)


@pytest.mark.parametrize(("name", "text"), [("f.yaml", ""), ("f.yaml", "[]"), ("f.json", ""), ("f.csv", ""),
                                            ("f.csv", "src,dst,bytes\n"), ("f.yml", "flows:\n")])  # fmt: skip
def test_a_file_may_hold_no_flow(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    assert read_flows(tmp_path / name) == []


def test_files_that_are_none(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"must end in \.yaml, \.yml, \.json or \.csv"):
        read_flows(tmp_path / "flows.txt")
    with pytest.raises(UsageError, match="does not exist"):
        read_flows(tmp_path / "flows.yaml")
    (tmp_path / "bytes.yaml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ConfigError, match="is not UTF-8 text"):
        read_flows(tmp_path / "bytes.yaml")
    (tmp_path / "folder.yaml").mkdir()
    with pytest.raises(ConfigError, match="cannot be read"):
        read_flows(tmp_path / "folder.yaml")


def test_a_spreadsheets_csv_is_read(tmp_path: Path) -> None:
    """A byte order mark, CRLF, quotes, and empty cells to the end of every line."""
    (tmp_path / "f.csv").write_bytes(
        b'\xef\xbb\xbfsrc,"dst",bytes,name,,\r\n"host",x,64,"a ""b"", c",,\r\n\r\nhost,x,32,,,\r\n'
    )
    assert read_flows(tmp_path / "f.csv") == [
        Flow("host", "x", 64, name='a "b", c'),
        Flow("host", "x", 32, name="flow2"),
    ]


@pytest.mark.parametrize("name", ["f.yaml", "f.csv"])
def test_a_number_with_a_leading_nought_is_decimal_in_every_format(tmp_path: Path, name: str) -> None:
    text = {"f.yaml": "- {src: host, dst: x, bytes: 010}\n", "f.csv": "src,dst,bytes\nhost,x,010\n"}[name]
    (tmp_path / name).write_text(text, encoding="utf-8")
    assert read_flows(tmp_path / name)[0].bytes == 10


def test_numbers_are_read_as_people_write_them(tmp_path: Path) -> None:
    (tmp_path / "f.csv").write_text(
        "src,dst,bytes,start_ns,offset\nhost, x ,0x100,1e3,1_000\nhost,x,4e3,.5,\n", encoding="utf-8"
    )
    first, second = read_flows(tmp_path / "f.csv")
    assert (first.dst, first.bytes, first.start_ns, first.offset) == ("x", 256, 1000.0, 1000)
    assert (second.bytes, second.start_ns, second.offset) == (4000, 0.5, 0)
