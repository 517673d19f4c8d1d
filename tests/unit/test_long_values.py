"""Numbers of thousands of digits, and values of many kB: an error in words, and not all of it."""

from __future__ import annotations

from pathlib import Path

import pytest
from kernbench_graph.errors import shorten

from kernbench.cli.main import main
from kernbench.errors import KernBenchError, UsageError

FLOW = "- {{src: host, dst: sip0.cube0.sram, bytes: {0}}}\n"
LATE = "- {{src: host, dst: sip0.cube0.sram, bytes: 1, start_ns: {0}}}\n"


@pytest.mark.parametrize("digits", [20, 401, 5000])
def test_a_number_too_long_for_any_use(
    digits: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    number = "1" * digits
    for file, text in (("f.yaml", FLOW), ("g.yaml", LATE), ("h.yaml", FLOW.replace("{0}", "'{0}'"))):
        Path(file).write_text(text.format(number), encoding="utf-8")
    Path("i.csv").write_text(f"src,dst,bytes,period_ns\nhost,sip0.cube0.sram,1,{number}\n", encoding="utf-8")
    Path("t.yaml").write_text(f"schema_version: 1\nname: t\nsystem: {{sips: {number}}}\n", encoding="utf-8")
    minimal = ("--topology", "minimal")
    one_pe = ("run", "--bench", "gemm-single-pe", *minimal)
    for argv in (
        *(("traffic", file, *minimal) for file in ("f.yaml", "g.yaml", "h.yaml", "i.csv")),
        ("probe", *minimal, "--sizes", f"64,{number}"),
        ("probe", *minimal, "--bytes", number),
        ("tune", "--bench", "softmax", *minimal, f"rows={number}0"),
        ("run", "--bench", number),
        (*one_pe, "--device", f"sip:{number}"),
        (*one_pe, f"m={number}"),
        (*one_pe, "--topo", f"system.sips={number}"),
        (*one_pe, "--topo", f"a.{number}=1"),
        ("topology", "check", "t.yaml"),
        ("query", "busiest-links", f"limit={number}"),
    ):
        assert main(argv) in (1, 2), argv
        said = capsys.readouterr().err
        assert said.startswith("kernbench: error: "), argv
        assert "unexpected" not in said
        assert len(said) < 1500, argv


def test_a_long_value_is_not_repeated_whole() -> None:
    text = f"'{'x' * 14_000}' is not a whole number"
    for error in (KernBenchError(text), UsageError(text)):
        assert str(error).endswith("...(14002 characters)...xxxxxxxxxxxxxxxxxxx' is not a whole number")
        assert len(str(error)) < 200
        assert error.args == (text,)
    words = "a value of many words " * 1000
    assert len(shorten(f"first line\n{words}")) < 2100
    usual = "one line, what, where, and what to do instead; " * 40
    assert shorten(usual) == usual
