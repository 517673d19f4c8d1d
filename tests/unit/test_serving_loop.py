"""The serving loop beside closed forms and by hand."""

import math

import numpy as np
import pytest

from kernbench.errors import ConfigError
from kernbench.workloads.serving.lengths import Lengths
from kernbench.workloads.serving.limits import Limits
from kernbench.workloads.serving.load import Load, poisson
from kernbench.workloads.serving.loop import serve
from kernbench.workloads.serving.measures import RequestTimes, Target, over_time, percentiles, totals, waits
from kernbench.workloads.serving.policies import FirstCome, policy_of
from kernbench.workloads.serving.replicas import serve_on


class Steps:
    """A step takes 1 ms and more for each token and key, as given."""

    def __init__(self, token=0.0, key=0.0, square=0.0):
        self.token, self.key, self.square = token, key, square

    def prefill_ns(self, tokens):
        return 1e6 + self.token * tokens + self.square * tokens**2

    def past_ns(self, before, tokens):
        return 2 * self.square * before * tokens

    def decode_ns(self, batch, keys):
        return 1e6 + self.token * batch + self.key * keys


def load(*requests):
    arrive, prompt, output = zip(*requests, strict=True)
    return Load(np.array(arrive, float), np.array(prompt), np.array(output))


def served(asked, steps=None, policy="first_come", **limits):
    return serve(asked, steps or Steps(), Limits(**{"blocks": 1 << 20, **limits}), policy_of(policy))


@pytest.mark.daily("0.6")
@pytest.mark.parametrize("share", [0.3, 0.6, 0.85])
def test_one_at_a_time_waits_as_an_m_d_1_queue(share):
    """Mean wait rho s / (2 (1 - rho)) within the 99 % interval of 20 batches of means."""
    asked = poisson(share * 1e3, 100_000, Lengths.read("64", "p"), Lengths.read("1", "o"), seed=5)
    wait = RequestTimes.of(served(asked, batch=1)).queue
    means = wait.reshape(20, -1).mean(axis=1)
    expected = share * 1e6 / (2 * (1 - share))
    assert abs(means.mean() - expected) < 2.86 * means.std(ddof=1) / math.sqrt(20)
    assert means.std(ddof=1) / math.sqrt(20) < 0.1 * expected


def test_alone_a_request_takes_the_sum_of_its_steps():
    steps = Steps(token=1e3, key=7.0, square=3.0)
    asked = load((5.0, 1000, 40))
    whole = served(asked, steps, step_tokens=1000)
    assert whole.first_ns[0] == pytest.approx(5.0 + steps.prefill_ns(1000), abs=1e-9)
    decodes = math.fsum(steps.decode_ns(1, 1000 + i) for i in range(1, 40))
    assert whole.done_ns[0] == pytest.approx(whole.first_ns[0] + decodes, rel=1e-12)
    # In chunks: each takes its own time, and attention to those before it.
    chunks = served(asked, steps, step_tokens=400)
    expected = sum(steps.prefill_ns(c) for c in (400, 400, 200)) + 6.0 * (400 * 400 + 800 * 200)
    assert chunks.first_ns[0] == pytest.approx(5.0 + expected, rel=1e-12)
    assert expected == pytest.approx(steps.prefill_ns(1000) + 2e6)  # two starts more


def test_prompts_in_a_step_take_the_time_of_one_as_long_as_all_or_one_after_the_other():
    two = load((0.0, 100, 1), (0.0, 300, 1))
    steps = Steps(square=1.0)  # reading weights together saves a start of 1 ms
    assert served(two, steps).done_ns[1] == pytest.approx(steps.prefill_ns(400))
    steps = Steps(square=100.0)  # attention between them would cost more
    assert served(two, steps).done_ns[1] == pytest.approx(steps.prefill_ns(100) + steps.prefill_ns(300))


def test_a_full_batch_in_steady_state_makes_a_token_a_request_and_step():
    """With more requests than places, throughput is that of full batches: prompts in steps of their own."""
    asked = load(*[(0.0, 16, 101)] * 640)
    found = served(asked, Steps(token=2e4), policy="decode_first", batch=64, step_tokens=64 * 16)
    rounds = 10 * (1e6 + 2e4 * 64 * 16 + 100 * (1e6 + 2e4 * 64))
    assert max(found.done_ns) == pytest.approx(rounds, rel=1e-12)
    row = totals(found, RequestTimes.of(found), Target())
    assert row["output_tokens_s"] == pytest.approx(640 * 101 / rounds * 1e9)
    assert (row["mean_batch"], row["machine_busy"]) == pytest.approx((64.0, 1.0))


def test_waits_are_named_by_what_was_full():
    one = (0.0, 16, 10)
    assert [row["waited_for"] for row in waits(served(load(one, one), batch=1))] == ["batch"]
    assert [row["waited_for"] for row in waits(served(load((0.0, 32, 10), (0.0, 32, 10)), blocks=3))] == [
        "cache"
    ]
    assert [row["waited_for"] for row in waits(served(load(one, one), step_tokens=16))] == ["tokens"]
    (row,) = waits(served(load(one, (0.25e6, 16, 1))))
    assert (row["waited_for"], row["mean_ms"], row["share"]) == ("step", pytest.approx(0.75), 1.0)


def test_a_full_cache_preempts_the_last_that_reads_again():
    """Two of 16 and 17 answers need 2 blocks each, 3 are there: the second gives up and comes again."""
    found = served(load((0.0, 16, 17), (0.0, 16, 17)), blocks=3)
    assert found.preemptions == {1: 1}
    assert max(found.steps[0].blocks) <= 3
    assert found.output_tokens == 34
    assert found.prompt_tokens == 32 + 17
    assert found.done_ns[0] == pytest.approx(17e6)
    # both prompts, 16 decodes of the first, then 17 tokens read again, which give the second's next token
    assert found.done_ns[1] == pytest.approx(17e6 + 16e6)


def test_policies_order_the_queue_and_share_steps():
    asked = load((0.0, 64, 8), (1.0, 256, 2), (2.0, 32, 2))
    first, short = (served(asked, policy=name, batch=1) for name in ("first_come", "shortest"))
    assert first.done_ns[1] < first.done_ns[2]
    assert short.done_ns[2] < short.done_ns[1]
    two = load((0.0, 16, 20), (1.5e6, 16, 2))
    ends = {
        name: served(two, policy=name).done_ns for name in ("first_come", "prefill_first", "decode_first")
    }
    assert ends["prefill_first"][0] == pytest.approx(21e6)  # its 20 steps and the other's prompt
    assert ends["first_come"][0] == pytest.approx(21e6)  # a step with both takes the time of both
    assert ends["decode_first"][0] == pytest.approx(20e6)
    assert ends["decode_first"][1] > ends["first_come"][1]


def test_a_policy_that_serves_nobody_is_an_error():
    class Never(FirstCome):
        def prompt_tokens(self, room, decoding):
            return 0

    with pytest.raises(ConfigError, match="policy Never starts no prompt"):
        serve(load((0.0, 1, 1)), Steps(), Limits(8), Never())


def test_what_is_in_use_over_time_adds_up():
    asked = poisson(
        200, 500, Lengths.read("uniform(1,200)", "p"), Lengths.read("lognormal(20,1)", "o"), seed=2
    )
    found = served(asked, Steps(token=1e4), blocks=200, batch=16)
    times = RequestTimes.of(found)
    row, rows = totals(found, times, Target(ttft_ns=2e7)), over_time(found, 7)
    wide = row["seconds"] / 7
    assert sum(r["busy"] for r in rows) * wide == pytest.approx(sum(found.steps[0].ns) / 1e9)
    assert sum(r["arrived"] for r in rows) == 500
    assert sum(r["done"] for r in rows) == 500 - row["refused"]
    # Little's law: requests in the batch and the queue are arrivals times the time they stay.
    inside = sum(r["batch"] + r["queue"] for r in rows) / 7
    late = sum(found.waits[n][3] for n in found.waits) / 1e9  # in the queue once the step under way ends
    assert inside * row["seconds"] == pytest.approx(times.latency.sum() / 1e9 - late)
    assert row["goodput"] == pytest.approx(row["within"] * 500 / row["seconds"])
    assert [r["time"] for r in percentiles(times)] == ["ttft", "tpot", "latency", "queue"]


def test_replicas_take_turns():
    asked = poisson(
        900, 301, Lengths.read("lognormal(90,1)", "p"), Lengths.read("lognormal(20,1)", "o"), seed=4
    )
    limits = Limits(40, batch=8)
    both = serve_on(2, asked, Steps(token=1e4), limits, FirstCome())
    for first in (0, 1):
        own = Load(asked.arrive_ns[first::2], asked.prompt[first::2], asked.output[first::2])
        one = serve(own, Steps(token=1e4), limits, FirstCome())
        np.testing.assert_array_equal(np.array(both.done_ns)[first::2], np.array(one.done_ns))
        assert [n for n in both.refused if n % 2 == first] == [2 * n + first for n in one.refused]
    assert both.refused
    times = RequestTimes.of(both)
    row, rows = totals(both, times, Target()), over_time(both, 5)
    assert both.output_tokens == asked.output[times.number].sum()
    busy = sum(sum(steps.ns) for steps in both.steps) / 1e9
    assert row["machine_busy"] * row["seconds"] * 2 == pytest.approx(busy)
    assert sum(r["busy"] for r in rows) / 5 == pytest.approx(row["machine_busy"])
    assert serve_on(500, asked, Steps(), limits, FirstCome()).output_tokens == both.output_tokens
