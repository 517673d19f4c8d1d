"""Steps between simulated ones, and how far off they are said to be."""

import pytest

from kernbench.workloads.serving.step_table import StepTable


def prefill(tokens):
    return 5e6 + 3e3 * tokens + 2.0 * tokens**2


def decode(batch, keys):
    return 4e6 + 1e4 * batch + 3.0 * batch * keys


class Machine:
    def __init__(self):
        self.asked = []

    def __call__(self, phase, batch, tokens):
        self.asked.append((phase, batch, tokens))
        return decode(batch, tokens) if phase == "decode" else prefill(tokens)


def test_steps_that_grow_as_they_should_are_exact_and_simulated_once_when_needed():
    machine = Machine()
    table = StepTable(machine, most_batch=50, most_tokens=512)
    for tokens in (1, 7, 16, 100, 500, 512):
        assert table.prefill_ns(tokens) == pytest.approx(prefill(tokens), rel=1e-12)
    assert sorted(table.prefill) == [1, 16, 32, 64, 128, 256, 512]
    assert table.past_ns(3000, 200) == pytest.approx(prefill(3200) - prefill(3000) - prefill(200) + 5e6)
    assert max(table.prefill) == 2048
    for batch, keys in ((1, 5), (3, 900), (40, 40_000), (50, 50_000)):
        assert table.decode_ns(batch, keys) == pytest.approx(decode(batch, keys / batch), rel=1e-12)
    assert {batch for batch, _ in table.decode} == {1, 4, 16, 50}
    assert (50, 256) in table.decode
    assert (50, 16) not in table.decode
    assert len(set(machine.asked)) == len(machine.asked)
    bars = table.bars()
    assert bars["decode"].worst == pytest.approx(0.0, abs=1e-12)
    assert bars["prefill"].points == 7
    assert bars["prefill"].worst == pytest.approx(0.0, abs=1e-12)


def test_the_bar_is_the_error_of_points_left_out():
    table = StepTable(lambda phase, batch, tokens: 200.0 if (batch, tokens) == (4, 64) else 100.0, 16, 64)
    for batch in (1, 4, 16):
        for keys in (16, 64, 256):
            table.decode_ns(batch, batch * keys)
    assert table.bars()["decode"].worst == pytest.approx(0.5)
    assert "prefill" not in table.bars()
