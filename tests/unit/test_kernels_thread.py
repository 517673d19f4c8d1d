"""A kernel suspended between commands: resumed from anywhere, failing openly, stopped cleanly."""

from __future__ import annotations

import inspect

import numpy as np
import pytest
from greenlet import getcurrent, greenlet

from kernbench.engine.program import commands
from kernbench.engine.program.commands import Cycles, Wait
from kernbench.errors import KernelError
from kernbench.language import KernelCall, Placement, Pointer, TensorArg, autotune, interpret
from tests.unit.kernels_fake_pe import FakePe


def test_it_runs_only_between_resumes():
    log = []

    def kernel(tl):
        log.append("started")
        tl.cycles(1)
        log.append("again")
        tl.cycles(2)
        log.append("over")

    thread = FakePe().thread(kernel)
    assert log == []
    assert thread.resume() == Cycles(1)
    assert log == ["started"]
    assert thread.resume() == Cycles(2)
    assert thread.resume() is None
    assert log == ["started", "again", "over"]
    assert thread.resume() is None


def test_every_start_is_a_kernel_of_its_own():
    def kernel(tl):
        tl.cycles(1)
        tl.cycles(2)

    pe = FakePe()
    call = KernelCall(kernel)
    first, second = call.start(pe.context), call.start(pe.context)
    assert [first.resume(), second.resume(), first.resume()] == [Cycles(1), Cycles(1), Cycles(2)]


def test_it_may_be_resumed_from_different_greenlets():
    def kernel(tl):
        for n in range(4):
            tl.cycles(n)
        raise ValueError("at the end")

    thread = FakePe().thread(kernel)
    seen = []

    def driver():
        seen.append((thread.resume(), getcurrent()))

    drivers = [greenlet(driver) for _ in range(2)]
    for g in drivers:
        g.switch()
        assert g.dead
    assert thread.resume() == Cycles(2)
    assert [command for command, _ in seen] == [Cycles(0), Cycles(1)]
    assert [g for _, g in seen] == drivers
    assert thread.resume() == Cycles(3)
    caught = []

    def last():
        with pytest.raises(ValueError, match="at the end"):
            thread.resume()
        caught.append(getcurrent())

    final = greenlet(last)
    final.switch()
    assert caught == [final]


def test_exceptions_come_out_as_they_are():
    class Odd(Exception):
        pass

    problem = Odd("mine")

    def kernel(tl):
        tl.cycles(1)
        raise problem

    thread = FakePe().thread(kernel)
    thread.resume()
    with pytest.raises(Odd) as caught:
        thread.resume()
    assert caught.value is problem
    assert caught.traceback[-1].name == "kernel"
    assert thread.resume() is None


def test_close_runs_finally_blocks_without_tl():
    log = []

    def kernel(tl):
        try:
            tl.cycles(1)
            log.append("not reached")
        finally:
            log.append("cleanup")
            tl.cycles(2)
            log.append("not reached either")

    thread = FakePe().thread(kernel)
    thread.resume()
    thread.close()
    assert log == ["cleanup"]
    assert thread.resume() is None
    thread.close()


def test_close_before_start_and_of_a_kernel_that_fails_while_stopping():
    def fails(tl):
        try:
            tl.cycles(1)
        finally:
            raise ValueError("while stopping")

    unstarted = FakePe().thread(fails)
    unstarted.close()
    assert unstarted.resume() is None
    thread = FakePe().thread(fails)
    thread.resume()
    thread.close()
    assert thread.resume() is None


def test_describe_says_call_and_line():
    def kernel(tl):
        tl.cycles(1)
        tl.composite("exp", tl.ref(0, (4,)), out_ptr=64)

    thread = FakePe().thread(kernel)
    assert thread.describe() == "kernel 'kernel' on sip1.cube2.pe3: not started"
    thread.resume()
    line = kernel.__code__.co_firstlineno + 1
    assert thread.describe() == (
        f"kernel 'kernel' on sip1.cube2.pe3: in tl.cycles at test_kernels_thread.py:{line}"
    )
    thread.resume()
    assert f"in tl.composite at test_kernels_thread.py:{line + 1}" in thread.describe()
    wait = thread.resume()
    assert isinstance(wait, Wait)
    assert thread.describe().endswith("at its end, waiting for composite_exp (op 100)")
    wait.completions[0].complete()
    assert thread.resume() is None
    assert thread.describe().endswith("finished")


@pytest.mark.parametrize("in_call", [False, True])
def test_an_interrupted_kernel_keeps_its_line(in_call):
    def interrupt(*_):
        raise KeyboardInterrupt

    def kernel(tl):
        if not in_call:
            interrupt()
        tl.cycles(1)

    thread = FakePe().thread(kernel)
    if in_call:
        thread._tl._send = interrupt
    with pytest.raises(KeyboardInterrupt):
        thread.resume()
    call = "interrupted in tl.cycles at" if in_call else "interrupted at"
    assert f"on sip1.cube2.pe3: {call} test_kernels_thread.py:" in thread.describe()


def test_a_composite_that_ended_by_itself_is_not_waited_for():
    def kernel(tl):
        tl.composite("exp", tl.ref(0, (4,)), out_ptr=64)
        tl.cycles(1)

    thread = FakePe().thread(kernel)
    composite = thread.resume()
    composite.completion.complete()
    assert thread.resume() == Cycles(1)
    assert thread.resume() is None


def _last(a, b, tl):
    return a, b, tl


def _keyword(a, b, *, tl):
    return a, b, tl


def _middle(a, tl, b=2):
    return a, b, tl


def _constants(a, tl, **constants):
    return a, constants["b"], tl


def _only_positional(a, b, tl, /):
    return a, b, tl


@pytest.mark.parametrize("function", [_last, _keyword, _middle, _constants, _only_positional])
def test_where_tl_goes(function):
    seen = []

    def spy(*args):
        seen.append(args)

    named = function is _constants

    class Kernel:
        __name__ = "spied"
        __signature__ = inspect.signature(function)

        def __call__(self, *args, **kwargs):
            spy(*function(*args, **kwargs))

    commands_seen = FakePe().run(Kernel(), *((1,) if named else (1, 2)), **({"b": 2} if named else {}))
    assert commands_seen == []
    ((a, b, tl),) = seen
    assert (a, b, tl.program_id()) == (1, 2, 3)


def test_constants_before_and_after_tl_by_name():
    seen = []

    def kernel(x, block, tl, flag=False):
        seen.append((x, block, flag, tl.program_id()))

    FakePe().run(kernel, 1, block=2, flag=True)
    FakePe().run(kernel, 1, 2, True)
    assert seen == [(1, 2, True, 3)] * 2


def test_the_language_is_not_the_value_of_an_argument_that_was_forgotten():
    def forgets(x, o, n):
        raise AssertionError("it must not run")

    def has_it(x, n, tl):
        raise AssertionError("it must not run")

    with pytest.raises(KernelError, match=r"missing a required argument: 'n'; the language goes to .*'tl'"):
        FakePe().run(forgets, 1, 2)
    with pytest.raises(KernelError, match=r"missing a required argument: 'n'$"):
        FakePe().run(has_it, 1)
    with pytest.raises(KernelError, match="missing a required argument: 'n'"):
        interpret(forgets, np.zeros(4, "f4"), np.zeros(4, "f4"))
    with pytest.raises(KernelError, match="missing a required argument: 'n'"):
        interpret(autotune([{"o": 1}])(forgets), np.zeros(4, "f4"))


def test_a_kernel_of_any_arguments_is_not_given_the_language():
    seen = []
    FakePe().run(lambda *args: seen.append(args), 1, 2)
    assert seen == [(1, 2)]


def test_tensors_become_pointers_and_the_rest_stays():
    seen = []

    def kernel(x, n, name, tl, w=None):
        seen.extend([x, n, name, w])

    place = {(1, 2, 3): Placement(4096, 4352, (2, 4))}
    x, w = TensorArg("x", (8, 4), "f32", place), TensorArg("w", (3,), "i8", default=Placement(64))
    FakePe().run(kernel, x, 8, "text", w=w)
    assert isinstance(seen[0], Pointer)
    assert (seen[0], seen[0].local, seen[0].local_shape, seen[0].dtype) == (4096, 4352, (2, 4), "f32")
    assert seen[1:3] == [8, "text"]
    assert (seen[3], seen[3].shape) == (64, (3,))


def test_names():
    assert KernelCall(lambda tl: None).name == "<lambda>"
    assert KernelCall(lambda tl: None, name="given").name == "given"


def test_they_are_what_a_pe_expects():
    # A PE knows kernels by these protocols alone.
    call: commands.BoundKernel = KernelCall(lambda tl: tl.cycles(1))
    thread: commands.RunningKernel = call.start(FakePe().context)
    assert thread.resume() == Cycles(1)


@pytest.mark.parametrize(
    ("address", "said"),
    [
        (1000, "the nearest argument, tensor 'x' (f32[4, 4]), begins 24 bytes after that address"),
        (1030, "the nearest argument, tensor 'x' (f32[4, 4]), begins 6 bytes before that address"),
        (1100, "the nearest argument, tensor 'x' (f32[4, 4]), ends 12 bytes before that address"),
        (1 << 50, "no tensor argument is near that address"),
    ],
)
def test_an_address_without_a_tensor_is_told_from_the_arguments(address, said):
    x = TensorArg("x", (4, 4), "f32", default=Placement(1024))
    y = TensorArg("y", (4, 4), "f32", default=Placement(1 << 20))
    thread = KernelCall(lambda y, x, n, tl: None, (y, x, 3)).start(FakePe().context)
    assert thread.nearest_tensor(address) == said
    assert KernelCall(lambda tl: None).start(FakePe().context).nearest_tensor(5) == ""
