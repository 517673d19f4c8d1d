"""What is asked of a service: lengths, rates, traces, policies, and errors of each."""

import numpy as np
import pytest

from kernbench.errors import ConfigError, UsageError
from kernbench.workloads.serving.lengths import Lengths
from kernbench.workloads.serving.load import poisson
from kernbench.workloads.serving.policies import SHIPPED, policy_of
from kernbench.workloads.serving.trace_file import read_trace

FIXED = Lengths.read("10", "p")


def test_lengths_have_the_mean_that_is_written():
    rng = np.random.default_rng(0)
    drawn = Lengths.read(" lognormal( 500 , 0.7 )", "p").draw(200_000, rng)
    assert drawn.mean() == pytest.approx(500, rel=0.01)
    assert drawn.min() >= 1
    assert np.log(drawn).std() == pytest.approx(0.7, rel=0.01)
    uniform = Lengths.read("uniform(3,5)", "p").draw(1000, rng)
    assert set(uniform.tolist()) == {3, 4, 5}
    assert set(Lengths.read("fixed(7)", "p").draw(5, rng).tolist()) == {7}


@pytest.mark.parametrize(
    "text",
    ["", "0", "gauss(1,2)", "uniform(5,3)", "uniform(1)", "fixed(1.5)", "lognormal(0,1)", "lognormal(9,-1)",
     "lognormal(9,nan)", "fixed(1e9)", "lognormal(x,1)"],
)  # fmt: skip
def test_other_lengths_are_refused(text):
    with pytest.raises(UsageError, match="--prompt: "):
        Lengths.read(text, "--prompt")


def test_the_same_seed_asks_the_same_and_another_rate_the_same_closer_together():
    lengths = Lengths.read("lognormal(100,1)", "p")
    one, same, fast = (poisson(rate, 1000, lengths, lengths, 3) for rate in (2.0, 2.0, 8.0))
    assert (one.arrive_ns == same.arrive_ns).all()
    assert (one.prompt == fast.prompt).all()
    assert np.allclose(one.arrive_ns, 4 * fast.arrive_ns, rtol=1e-12)
    assert one.rate == pytest.approx(2.0, rel=0.1)
    assert one.at_rate(5.0).rate == pytest.approx(5.0)
    assert (one.prompt != one.output).any()
    with pytest.raises(UsageError, match="rate is 0"):
        poisson(0, 10, FIXED, FIXED, 1)


AZURE = (
    "TIMESTAMP,ContextTokens,GeneratedTokens\n"
    "2023-11-16 18:17:03.9799600,4808,10\n2023-11-16 18:17:04.0319600,3180,8\n"
)
MOONCAKE = "timestamp,input_length,output_length\n0,6755,500\n3052,7319,490\n"
BURST = (
    "Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n"
    "5,ChatGPT,472,18,490,x\n45,GPT-4,10,2,12,x\n"
)


@pytest.mark.parametrize(
    ("text", "gap_ns", "prompts", "outputs"),
    [
        (AZURE, 52e6, [4808, 3180], [10, 8]),
        (MOONCAKE, 3052e6, [6755, 7319], [500, 490]),
        (BURST, 40e9, [472, 10], [18, 2]),
        ("output,timestamp,input\n1,2.5,3\n4,0.5,6\n", 2e9, [6, 3], [4, 1]),
    ],
)
def test_public_traces_are_read(tmp_path, text, gap_ns, prompts, outputs):
    file = tmp_path / "trace.csv"
    file.write_text(text)
    load = read_trace(file)
    assert load.arrive_ns.tolist() == [0.0, pytest.approx(gap_ns, abs=1)]
    assert (load.prompt.tolist(), load.output.tolist()) == (prompts, outputs)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("a,b\n1,2\n", "trace.csv:1: lacks the columns"),
        ("", "trace.csv:1: lacks the columns"),
        ("timestamp,input,output\n", "trace.csv: has no requests"),
        ("timestamp,input,output\n1,2\n", "trace.csv:2: has 2 cells, expected 3"),
        ("timestamp,input,output\n1,2,3\nx,2,3\n", "trace.csv:3: timestamp: 'x' is not a number of seconds"),
        ("timestamp,input,output\nnan,2,3\n", "trace.csv:2: timestamp: 'nan'"),
        ("timestamp,input,output\n1,0,3\n", "trace.csv:2: input: '0' is not a number of tokens"),
        ("timestamp,input,output\n1,2,3.5\n", "trace.csv:2: output: '3.5' is not a number of tokens"),
        (AZURE.replace("18:17:04", "18:61:04"), "trace.csv:3: timestamp: .* is not a date and time"),
        ('timestamp,input,output\n1,2,"3\n', "trace.csv:2: bad CSV"),
    ],
)
def test_a_bad_trace_is_named_by_file_line_and_column(tmp_path, text, told):
    file = tmp_path / "trace.csv"
    file.write_text(text)
    with pytest.raises(ConfigError, match=told):
        read_trace(file)


def test_policies_are_shipped_or_a_users_own(tmp_path):
    assert sorted(SHIPPED) == ["decode_first", "first_come", "prefill_first", "shortest"]
    for name in SHIPPED:
        assert type(policy_of(name)) is SHIPPED[name]
    file = tmp_path / "mine.py"
    file.write_text(
        "from kernbench.workloads.serving.policy import Policy\n"
        "class Longest(Policy):\n    def rank(self, request):\n        return -request.prompt\n"
        "class Empty(Policy):\n    pass\n"
    )
    assert type(policy_of(f"{file}:Longest")).__name__ == "Longest"
    with pytest.raises(ConfigError, match="lacks rank"):
        policy_of(f"{file}:Empty")
    with pytest.raises(UsageError, match="did you mean 'shortest'"):
        policy_of("shortes")
