"""``kernbench serve-sim`` and ``kb.serve_sim``: steps from the machine, answers, and what is refused."""

import csv
import io
import json
import math

import pytest

import kernbench as kb
from kernbench.api.models.step_time import step
from kernbench.api.serving.rates import read_rates
from kernbench.errors import ConfigError, UsageError
from kernbench.workloads.serving.policies import SHIPPED

SHORT = ("serve-sim", "small", "--topology", "minimal", "--prompt", "64", "--output", "3", "--requests", "40")


def test_one_answer_in_every_form(cli, workdir):
    rates = ("--rate", "2000/s:32000/s", "--ttft", "0.1ms", "--tpot", "50us")
    done = cli(*SHORT, *rates, "--format", "json", "--out", "r.csv", "--page", "p.html")
    assert done.status == 0
    said = json.loads(done.out)
    named = [said[name] for name in ("model", "machine", "packages", "policy")]
    assert named == ["small", "minimal", 1, "first_come"]
    asked = [row["rate"] for row in said["curve"]]
    assert {2000.0, 4000.0, 8000.0} <= set(asked)
    assert asked == sorted(asked)
    assert all(row["requests"] == 40 and row["refused"] == 0 for row in said["curve"])
    kept = [row["rate"] for row in said["curve"] if row["within"] >= 0.99]
    assert said["knee"] in kept
    assert min(rate for rate in asked if rate > said["knee"]) <= 1.05 * said["knee"]
    rows = list(csv.DictReader((workdir / "r.csv").read_text().splitlines()))
    assert len(rows) == 40
    at_knee = next(row for row in said["curve"] if row["rate"] == said["knee"])
    mean = sum(float(row["ttft_ns"]) for row in rows) / 40 / 1e6
    assert mean == pytest.approx(at_knee["ttft_mean_ms"], abs=1e-6)
    assert "<table" in (workdir / "p.html").read_text()
    again = cli(*SHORT, *rates, "--format", "json")
    assert json.loads(again.out) == said
    table = list(csv.DictReader(io.StringIO(cli(*SHORT, *rates, "--format", "csv").out)))
    assert [float(row["ttft_mean_ms"]) for row in table] == [row["ttft_mean_ms"] for row in said["curve"]]
    shown = cli(*SHORT, *rates).out
    assert "knee: 99% of the requests keep the target up to" in shown
    assert "What requests waited for" in shown


def test_without_load_a_request_takes_the_steps_that_the_machine_takes(workdir):
    found = kb.serve_sim("small", "minimal", rate="1/s", prompt=64, output=3, requests=5, batch=4)
    first = step("small", "minimal", "prefill", 1, 64, capacity="ignore").ns
    near = [step("small", "minimal", "decode", 1, keys, capacity="ignore").ns for keys in (64, 256)]
    decodes = [near[0] + (near[1] - near[0]) * (keys - 64) / 192 for keys in (65, 66)]
    times = found.point.times
    assert times.ttft == pytest.approx([first] * 5, rel=1e-9)
    assert times.latency == pytest.approx([math.fsum([first, *decodes])] * 5, rel=1e-9)
    assert {row["phase"] for row in found.steps} == {"decode", "prefill"}


def test_the_cache_is_what_the_model_leaves_of_the_memory(workdir):
    found = kb.serve_sim("small", "minimal", prompt=16, output=1, requests=1)
    # Keys and values of a token: 4 heads of 32 in f16, of one layer.
    nbytes = found.limits.blocks * found.limits.block_tokens * 2 * 4 * 32 * 2
    one = step("small", "minimal", "decode", 64, 64, capacity="ignore")
    has = sum(one.memory.values())
    assert nbytes == pytest.approx(has - one.memory["weights"] - one.memory["activations"], rel=1e-3)


def test_what_never_fits_is_refused_with_need_and_room(cli, workdir):
    done = cli(*SHORT, "--cache-tokens", "32")
    assert done.status == 2
    assert "the shortest needs 66 tokens, and there is room for 32" in done.err
    (workdir / "t.csv").write_text("timestamp,input,output\n0,16,2\n0.1,900,200\n0.2,16,2\n")
    done = cli("serve-sim", "small", "--topology", "minimal", "--prompt", "t.csv", "--cache-tokens", "64")
    assert "1 of 3 requests were refused" in done.out
    assert "request 1, needs 1099 tokens" in done.out
    assert (
        cli("serve-sim", "small", "--topology", "minimal", "--prompt", "t.csv", "--output", "5").status == 2
    )
    (workdir / "t.csv").write_text("timestamp,input,output\n0,16,x\n")
    done = cli("serve-sim", "small", "--topology", "minimal", "--prompt", "t.csv")
    assert done.status == 1
    assert "t.csv:2: output: 'x' is not a number of tokens" in done.err


def test_a_model_that_leaves_no_room_is_refused(cli):
    done = cli("serve-sim", "llama-70b", "--topology", "minimal", "--batch", "4")
    assert done.status == 2
    assert "leaves no room for a cache" in done.err
    assert "141 GB" in done.err


@pytest.mark.parametrize("policy", SHIPPED)
def test_every_policy_serves_all(policy, workdir):
    found = kb.serve_sim("small", "minimal", rate=20_000, prompt="uniform(1,60)", output="uniform(1,9)",
                         requests=100, policy=policy, cache_tokens=128, batch=4)  # fmt: skip
    assert found.point.totals["requests"] == 100
    assert found.point.totals["cache_peak"] <= 1.0


@pytest.mark.parametrize(
    ("rank", "told"),
    [("1 / 0", r"raised ZeroDivisionError: division by zero \(mine.py:4\)"), ("float('nan')", "as nan")],
)
def test_a_policy_that_fails_is_named_with_its_line(rank, told, workdir):
    (workdir / "mine.py").write_text(
        "from kernbench.workloads.serving.policy import Policy\nclass Mine(Policy):\n"
        f"    def rank(self, request):\n        return {rank}\n"
    )
    with pytest.raises(ConfigError, match=told):
        kb.serve_sim("small", "minimal", prompt=8, output=1, requests=1, policy="mine.py:Mine")


@pytest.mark.slow
def test_replicas_serve_more(cli):
    one, two = (
        json.loads(cli(*SHORT, "--rate", "50000/s", "--replicas", n, "--format", "json").out) for n in "12"
    )
    assert (one["replicas"], two["replicas"]) == (1, 2)
    assert one["curve"][0]["throughput"] < two["curve"][0]["throughput"]


def test_rates_are_read_as_people_write_them():
    assert read_rates("4/s") == [4.0]
    assert read_rates("90/min, 2") == [1.5, 2.0]
    assert read_rates("1/s:10/s") == [1.0, 2.0, 4.0, 8.0, 10.0]
    for wrong in ("", "0/s", "x", "4/s:1/s", "4/d", "1e400", "1/s:1e9/s:2/s"):
        with pytest.raises(UsageError, match="rate: "):
            read_rates(wrong)
