"""Kernels with configurations: what a launch takes, how the best is found, what is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import kernbench as kb
from kernbench.errors import KernelError, LaunchError, UsageError, VerificationError
from kernbench.language import Autotuned, interpret

X = np.ones((4, 4), np.float32)
BIG = np.ones((4, 8), np.float32)


def scaled(x: Any, out: Any, ROWS: int, tl: Any) -> None:
    rows, columns = x.shape
    if rows % ROWS:
        raise ValueError(f"{ROWS} does not divide")
    for row in range(0, rows, ROWS):
        at = row * columns * 4
        tl.store(out + at, tl.load(x + at, shape=(ROWS, columns), dtype="f32") * 2.0)


def tuned(*rows: int, key: Any = (), fn: Callable[..., Any] = scaled) -> Autotuned:
    return kb.autotune(configs=[{"ROWS": n} for n in rows], key=key)(fn)


def launches(*pairs: tuple[Any, Any], **more: Any) -> Callable[[Any], None]:
    """A bench that launches each kernel on its array."""

    def bench(torch: Any) -> None:
        for kernel, array in pairs:
            x, out = torch.from_numpy(array), torch.zeros(array.shape, dtype="f32")
            torch.launch("any", kernel, x, out, **more).wait()

    return bench


def tune(bench: Callable[[Any], None], **how: Any) -> kb.Tuning:
    return kb.tune(bench, "minimal", store="memory:", **how)


def test_the_fastest_is_found_and_errors_lose_nothing() -> None:
    kernel = tuned(1, 3, 4, 2)
    found = tune(launches((kernel, X)))
    assert [p.config["ROWS"] for p in found.points] == [1, 3, 4, 2]
    assert [p.best for p in found.points] == [False, False, True, False]
    assert "3 does not divide" in found.points[1].error
    assert found.points[1].latency_ns is None
    assert found.settings == {"scaled.ROWS": 4}
    assert kernel.best == {(): {"ROWS": 4}}


def test_each_point_is_a_kept_run_with_its_time_and_configuration() -> None:
    with kb.open_store("memory:") as store:
        found = kb.tune(launches((tuned(1, 4), X)), "minimal", store=store, tags=["t"])
        for point in found.points:
            run = kb.open_run(point.run_id, store)
            assert run.latency_ns == point.latency_ns
            assert run.params == {"scaled.ROWS": point.config["ROWS"]}
            assert run.tags == ["t"]
        assert len({run.info["config_hash"] for run in kb.runs(store)}) == 2


def test_each_key_has_its_own_best() -> None:
    def small_or_large(x: Any, out: Any, ROWS: int, tl: Any) -> None:
        tl.cycles(ROWS if x.shape[1] == 4 else 10 - ROWS)
        tl.store(out, tl.load(x))

    kernel = tuned(1, 2, key=["x"], fn=small_or_large)
    bench = launches((kernel, X), (kernel, BIG))
    found = tune(bench)
    assert [(p.key, p.config["ROWS"]) for p in found.best] == [
        ((("x", "f32[4, 4]"),), 1),
        ((("x", "f32[4, 8]"),), 2),
    ]
    run = kb.run(bench, "minimal", store="memory:")
    assert run.params == found.settings
    assert run.params == {"small_or_large[x=f32[4, 4]].ROWS": 1, "small_or_large[x=f32[4, 8]].ROWS": 2}
    again = kb.run(bench, "minimal", params=run.params, store="memory:")
    assert again.info["config_hash"] == run.info["config_hash"]


def keyed(fails: dict[int, set[int]], wrong: bool = False) -> Autotuned:
    """A kernel with configurations 1, 2 and 3: which fail, or give wrong values, by width of the array."""

    def rows(x: Any, out: Any, ROWS: int, tl: Any) -> None:
        bad = ROWS in fails[x.shape[1]]
        if bad and not wrong:
            raise ValueError(f"{ROWS} fails for {x.shape[1]}")
        tl.cycles(100 * ROWS)
        tl.store(out, tl.load(x) * (3.0 if bad else 2.0))

    return tuned(1, 2, 3, key=["x"], fn=rows)


def doubles(kernel: Autotuned, *arrays: Any) -> Callable[[Any], None]:
    def bench(torch: Any) -> None:
        for number, array in enumerate(arrays):
            out = torch.zeros(array.shape, dtype="f32")
            torch.launch("any", kernel, torch.from_numpy(array), out).wait()
            torch.check(f"out{number}", out, 2 * array)

    return bench


@pytest.mark.parametrize("wrong", [False, True])
@pytest.mark.parametrize(
    ("fails", "best"),
    [
        ({4: {1}, 8: set()}, {4: 2, 8: 1}),
        ({4: set(), 8: {1}}, {4: 1, 8: 2}),
        ({4: {1, 2}, 8: {2, 3}}, {4: 3, 8: 1}),
        ({4: {2, 3}, 8: {1, 2}}, {4: 1, 8: 3}),
    ],
)
def test_a_configuration_that_fails_for_one_key_is_measured_for_the_others(
    fails: dict[int, set[int]], best: dict[int, int], wrong: bool
) -> None:
    kernel = keyed(fails, wrong)
    found = tune(doubles(kernel, X, BIG), verify=wrong)
    by_key = {int(p.key[0][1].rpartition(" ")[2].rstrip("]")): p.config["ROWS"] for p in found.best}
    assert by_key == best
    assert len(found.points) == 6
    for point in found.points:
        width = int(point.key[0][1].rpartition(" ")[2].rstrip("]"))
        assert bool(point.error) == (point.config["ROWS"] in fails[width]), point
        if point.error and not wrong:
            assert f"{point.config['ROWS']} fails for {width}" in point.error


def test_a_configuration_is_not_lost_by_that_of_another_kernel() -> None:
    first, second = keyed({4: set(), 8: set()}), tuned(3, 2)
    found = tune(launches((first, X), (second, X)))
    assert [(p.kernel, p.config["ROWS"], bool(p.error)) for p in found.points] == [
        *(("rows", n, False) for n in (1, 2, 3)), ("scaled", 3, True), ("scaled", 2, False)
    ]  # fmt: skip
    assert found.settings == {"rows.ROWS": 1, "scaled.ROWS": 2}


def test_kernels_are_tuned_one_after_the_other() -> None:
    def other(x: Any, out: Any, ROWS: int, tl: Any) -> None:
        scaled(x, out, ROWS, tl)

    found = tune(launches((tuned(1, 4), X), (tuned(4, 2, fn=other), X)))
    assert [(p.kernel, p.config["ROWS"], p.best) for p in found.points] == [
        ("scaled", 1, False),
        ("scaled", 4, True),
        ("other", 4, True),
        ("other", 2, False),
    ]


def test_wrong_values_are_no_best() -> None:
    def skips(x: Any, out: Any, ROWS: int, tl: Any) -> None:
        tl.store(out + 0, tl.load(x, shape=(ROWS, 4), dtype="f32") * 2.0)

    kernel = tuned(1, 4, fn=skips)

    def bench(torch: Any) -> None:
        x, out = torch.from_numpy(X), torch.zeros(X.shape, dtype="f32")
        torch.launch("skips", kernel, x, out)
        torch.check("out", out, 2 * X)

    assert tune(bench).settings == {"skips.ROWS": 1}
    found = tune(bench, verify=True)
    assert found.settings == {"skips.ROWS": 4}
    assert found.points[0].run_id
    assert "differs first" in found.points[0].error


def test_a_kernel_on_arrays_is_tuned_once_for_each_key() -> None:
    kernel = tuned(1, 4, key=["x"])
    first = kb.run_kernel(kernel, X, out=np.zeros_like(X), topology="minimal")
    assert first.tuning is not None
    assert first.latency_ns == min(p.latency_ns or 0 for p in first.tuning.points)
    assert np.array_equal(first.check(lambda x: 2 * x).output, 2 * X)
    assert kb.run_kernel(kernel, X, out=np.zeros_like(X), topology="minimal").tuning is None
    assert kb.run_kernel(kernel, BIG, out=np.zeros_like(BIG), topology="minimal").tuning is not None
    chosen = kb.run_kernel(kernel, X, out=np.zeros_like(X), topology="minimal", ROWS=2)
    assert chosen.tuning is None
    assert chosen.latency_ns > first.latency_ns


def test_a_kernel_without_a_working_configuration() -> None:
    with pytest.raises(LaunchError, match="3 does not divide"):
        kb.run_kernel(tuned(3, 5), X, out=np.zeros_like(X), topology="minimal")
    found = tune(launches((tuned(3, 5), X)))
    assert found.untuned == ["scaled"]
    assert found.settings == {}


def test_settings_choose_a_configuration() -> None:
    bench = launches((tuned(1, 2, 4), X))
    assert kb.run(bench, "minimal", store="memory:").params == {"scaled.ROWS": 1}
    for value in (4, "4"):
        run = kb.run(bench, "minimal", params={"scaled.ROWS": value}, store="memory:")
        assert run.params == {"scaled.ROWS": 4}


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"scaled.ROWS": 5}, "no configuration with ROWS=5; it has ROWS=1; ROWS=2"),
        ({"scled.ROWS": 2}, "'scled.ROWS' belongs to no kernel of the run; did you mean 'scaled.ROWS'"),
    ],
)
def test_settings_that_fit_nothing(params: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        kb.run(launches((tuned(1, 2), X)), "minimal", params=params, store="memory:")


def test_a_setting_without_a_tuned_kernel() -> None:
    with pytest.raises(UsageError, match="launches no kernel with configurations"):
        kb.run(launches((scaled, X), ROWS=1), "minimal", params={"scaled.ROWS": 1}, store="memory:")
    with pytest.raises(UsageError, match="launches no kernel with configurations"):
        tune(launches((scaled, X), ROWS=1))
    with pytest.raises(UsageError, match="chosen by tune"):
        tune(launches((tuned(1), X)), params={"scaled.ROWS": 1})


def test_what_the_launch_gives_is_not_tuned() -> None:
    with pytest.raises(UsageError, match="'ROWS' is given at the launch and in the configurations"):
        tune(launches((tuned(1, 2), X), ROWS=1))


def test_two_kernels_of_one_name() -> None:
    with pytest.raises(UsageError, match="two kernels with configurations are called 'scaled'"):
        kb.run(launches((tuned(1), X), (tuned(2), X)), "minimal", store="memory:")


def test_the_interpreter_takes_the_first_or_the_best() -> None:
    kernel = tuned(3, 2)
    with pytest.raises(ValueError, match="3 does not divide"):
        interpret(kernel, X, out=np.zeros_like(X))
    kernel.best[()] = {"ROWS": 2}
    assert np.array_equal(interpret(kernel, X, out=np.zeros_like(X)), 2 * X)


@pytest.mark.parametrize(
    ("configs", "key", "message"),
    [
        ([], (), "'configs' is empty"),
        ([{"ROWS": 1}, {"BLOCK": 1}], (), "BLOCK=1 and ROWS=1 give values to different parameters"),
        ([{}], (), "gives no values"),
        ([{"ROW": 1}], (), "no parameter 'ROW'; did you mean 'ROWS'"),
        ([{"ROWS": 1}], ["n"], "'key': the kernel has no parameter 'n'"),
        ([{"ROWS": 1}], ["ROWS"], "in the key and in the configurations"),
        ([{"ROWS": 1}], "x", r"write a list, \['x'\]"),
        ([4, 8], (), "4 is not a dict"),
        (scaled, (), "write @kb.autotune"),
    ],
)
def test_what_is_refused(configs: Any, key: Any, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        kb.autotune(configs, key)(scaled)


def test_a_tuned_kernel_reads_like_the_kernel() -> None:
    kernel = tuned(1, 2)
    assert kernel.__name__ == "scaled"
    with pytest.raises(KernelError, match="argument 'num_warps'"):
        kb.run_kernel(kernel, X, out=np.zeros_like(X), topology="minimal", num_warps=4, ROWS=1)
    with pytest.raises(VerificationError):
        kb.run_kernel(kernel, X, out=np.zeros_like(X), topology="minimal").check(lambda x: x)
