"""Ranks: each has a device and requests of its own, ranks overlap in simulated time, failures are clear."""

from __future__ import annotations

import numpy as np
import pytest

from kernbench.errors import DeadlockError, LaunchError, UsageError
from kernbench.host.spawn import SpawnException
from tests.small_contexts import ALL, copy_kernel, double_kernel, make

VALUES = np.arange(16, dtype=np.float32)


def work(torch, rank, values=VALUES, launches=1):
    """Make a tensor, launch, read: what it reads, and when."""
    x = torch.from_numpy(values + rank, dp=ALL)
    y = torch.empty(16, dtype="f32", dp=ALL)
    for _ in range(launches):
        torch.launch("double", double_kernel, x, y)
    return y.numpy(), torch.now


def test_every_rank_runs_on_its_own_sip():
    torch = make()
    seen = {}

    def program(rank, offset):
        seen[rank] = (torch.ahbm.current_device(), work(torch, rank + offset)[0])

    assert torch.multiprocessing.spawn(program, args=(10,), nprocs=2) is None
    for rank, (device, values) in seen.items():
        assert device == rank
        np.testing.assert_array_equal(values, 2 * (VALUES + rank + 10))
    assert torch.ahbm.current_device() is None


def test_a_device_set_by_one_rank_is_not_seen_by_another():
    torch = make()
    sips = {}

    def program(rank):
        torch.ahbm.set_device(1 - rank)
        torch.zeros(16, dp=ALL).numpy()
        assert torch.accelerator.current_device_index() == 1 - rank
        sips[rank] = torch.zeros(16, dp=ALL).sips

    torch.multiprocessing.spawn(program, nprocs=2)
    assert sips == {0: (1,), 1: (0,)}
    assert torch.ahbm.sips == (0, 1)


def alone(rank):
    torch = make()
    torch.ahbm.set_device(rank)
    return work(torch, rank)[1]


def test_ranks_overlap_in_simulated_time():
    torch = make()
    times = {}

    def program(rank):
        times[rank] = work(torch, rank)[1]

    torch.multiprocessing.spawn(program, nprocs=2)
    one = max(alone(0), alone(1))
    # They share the host's link to the switch, and nothing else: what they write queues there.
    assert one <= max(times.values()) < 1.1 * one
    assert torch.now == max(times.values())


@pytest.mark.parametrize(("graph", "waits_ns"), [("va", 0.0), ("serial", 5.0)])
def test_ranks_that_share_no_link_take_as_long_as_one(graph, waits_ns):
    """The host has one link, to a switch of 5 ns. A serial switch takes one launch after the other.

    A pipelined one passes both on together, for their messages have no bytes that could wait for the link.
    """

    def kernel_time(ranks):
        torch = make(graph)
        x = [None] * ranks

        def program(rank):
            x[rank] = torch.zeros(4096, dtype="f32", dp=ALL)

        torch.multiprocessing.spawn(program, nprocs=ranks)
        begun = torch.now

        def compute(rank):
            torch.launch("double", double_kernel, x[rank], x[rank]).wait()

        torch.multiprocessing.spawn(compute, nprocs=ranks)
        records = [handle.record for handle in torch.launches]
        return max(r.t_done - r.t_start for r in records), torch.now - begun

    busy_of_one, all_of_one = kernel_time(1)
    busy_of_two, all_of_two = kernel_time(2)
    assert busy_of_two == pytest.approx(busy_of_one, abs=1e-9)
    assert all_of_two == pytest.approx(all_of_one + waits_ns, abs=1e-9)


def slow_kernel(x, tl):
    tl.cycles(50_000)
    tl.store(x.local, tl.load(x.local))


def test_a_read_does_not_wait_for_a_launch_of_another_rank():
    torch = make()
    times = {}

    def program(rank):
        x = torch.from_numpy(VALUES, dp=ALL)
        if rank == 0:
            torch.launch("slow", slow_kernel, x)
        x.numpy()
        times[rank] = torch.now

    torch.multiprocessing.spawn(program, nprocs=2)
    assert times[1] < 5_000 < 50_000 < times[0]


def test_a_copy_from_the_tensor_of_another_rank_waits_for_its_own_rank_alone():
    torch = make()
    shared = {}

    def program(rank):
        mine = shared[rank] = torch.full((16,), rank, dtype="f32", dp=ALL)
        torch.launch("double", double_kernel, mine, mine)
        torch.wait_all()
        other = torch.empty(16, dtype="f32", dp=ALL)
        while len(shared) < 2:
            torch.zeros(1).numpy()
        other.copy_(shared[1 - rank])
        np.testing.assert_array_equal(other.numpy(), np.full(16, 2 * (1 - rank)))

    torch.multiprocessing.spawn(program, nprocs=2)


@pytest.mark.parametrize("ranks", [1, 2])
def test_a_rank_ends_when_its_launches_have(ranks):
    torch = make()

    def program(rank):
        torch.launch("slow", slow_kernel, torch.from_numpy(VALUES, dp=ALL))

    torch.multiprocessing.spawn(program, nprocs=ranks)
    assert all(handle.done for handle in torch.launches)
    assert torch.now > 50_000


def test_memory_of_ranks_is_given_back():
    torch = make()

    def program(rank):
        for _ in range(3):
            x = torch.from_numpy(VALUES + rank, dp=ALL)
            y = torch.empty(16, dtype="f32", dp=ALL)
            torch.launch("copy", copy_kernel, x, y)
            np.testing.assert_array_equal(y.numpy(), VALUES + rank)
            x.free()

    with torch:
        torch.multiprocessing.spawn(program, nprocs=2)
    assert all(one.free_bytes == one.capacity for one in torch.storage.memory._lists.values())


def test_replay_keeps_overlapping_ranks_apart():
    torch = make()
    results = {}

    def program(rank):
        x = torch.from_numpy(VALUES + rank, dp=ALL)
        for step in range(6):
            torch.launch("double", double_kernel, x, x)
            if step % (rank + 2) == 0:
                x.numpy()
        results[rank] = x.numpy()

    torch.multiprocessing.spawn(program, nprocs=2)
    for rank in range(2):
        np.testing.assert_array_equal(results[rank], 64 * (VALUES + rank))


def test_ranks_without_join_run_when_the_bench_waits():
    torch = make()
    seen = []
    context = torch.multiprocessing.spawn(lambda rank: seen.append(rank), nprocs=2, join=False)
    assert (seen, context.done) == ([], False)
    with pytest.raises(UsageError, match=r"join"):
        torch.multiprocessing.spawn(print, nprocs=2)
    context.join()
    assert (seen, context.done) == ([0, 1], True)

    torch.multiprocessing.spawn(lambda rank: seen.append(work(torch, rank)[1]), nprocs=2, join=False)
    torch.close()
    assert len(seen) == 4


# -- failures ---------------------------------------------------------------------------------------


def test_a_rank_that_fails_ends_the_others():
    torch = make()
    ended = []

    def program(rank):
        try:
            x = torch.zeros(16, dp=ALL)
            if rank == 1:
                x.numpy()
                raise ZeroDivisionError("on purpose")
            while True:
                x.numpy()
        finally:
            ended.append(rank)

    with pytest.raises(
        SpawnException, match=r"rank 1 of 2 raised ZeroDivisionError: on purpose \(test_ranks.py"
    ) as e:
        torch.multiprocessing.spawn(program, nprocs=2)
    assert list(e.value.errors) == [1]
    assert isinstance(e.value.__cause__, ZeroDivisionError)
    assert ended == [1, 0]
    torch.multiprocessing.spawn(lambda rank: work(torch, rank), nprocs=2)


def test_all_root_causes_of_one_instant_are_reported():
    torch = make()

    def program(rank):
        raise ValueError(f"rank {rank} here")

    with pytest.raises(
        SpawnException, match=r"rank 0 of 2 raised ValueError: rank 0 here .*; rank 1 of 2 raised"
    ) as e:
        torch.multiprocessing.spawn(program, nprocs=2)
    assert list(e.value.errors) == [0, 1]

    def same(rank):
        raise ValueError("of all")

    with pytest.raises(SpawnException, match=r"^ranks 0, 1 of 2 raised ValueError: of all"):
        torch.multiprocessing.spawn(same, nprocs=2)


def failing_kernel(x, tl):
    tl.load(x.local)
    raise KeyError("in the kernel")


def test_a_kernel_that_fails_fails_its_rank():
    torch = make()

    def program(rank):
        x = torch.zeros(16, dp=ALL, name="x")
        torch.launch("bad" if rank else "good", failing_kernel if rank else slow_kernel, x)

    with pytest.raises(
        SpawnException, match=r"rank 1 of 2 failed.*kernel 'bad' failed on sip1.*in the kernel"
    ) as e:
        torch.multiprocessing.spawn(program, nprocs=2)
    assert list(e.value.errors) == [1]
    assert isinstance(e.value.errors[1], LaunchError)


def test_cleaning_up_cannot_wait():
    torch = make()
    reached = []

    def program(rank):
        x = torch.zeros(16, dp=ALL)
        if rank == 0:
            torch.launch("slow", slow_kernel, x).wait()
            raise ValueError("stop")
        try:
            while True:
                x.numpy()
        finally:
            reached.append("before")
            x.numpy()
            reached.append("after")

    with pytest.raises(SpawnException, match=r"stop"):
        torch.multiprocessing.spawn(program, nprocs=2)
    assert reached == ["before"]


def test_an_ending_of_a_rank_is_its_failure():
    def program(rank):
        raise GeneratorExit

    with pytest.raises(SpawnException, match=r"rank 0 of 1 raises GeneratorExit; return"):
        make().multiprocessing.spawn(program, nprocs=1)


def test_exit_of_a_rank_is_no_success():
    torch = make()
    with pytest.raises(SpawnException, match=r"rank 0 of 1 exits with 0; return"):
        torch.multiprocessing.spawn(lambda rank: exit(0), nprocs=1)


class Never:
    label = "a thing that never comes"
    done = False

    def when_done(self, call):
        """It never is."""


def test_ranks_that_wait_for_nothing_are_a_deadlock_with_their_lines():
    torch = make()
    stopped = []

    def program(rank):
        try:
            torch.zeros(16, dp=ALL).numpy()
            if rank == 0:
                return
            torch.scheduler.wait(Never())
        finally:
            stopped.append(rank)

    torch.scheduler.notes.append(lambda: ["a note"])
    line = r"rank 1 waits for 'a thing that never comes' at test_ranks.py:\d+"
    with pytest.raises(
        DeadlockError,
        match=rf"^deadlock at \d+\.\d+ ns: 1 of 2 ranks cannot finish\n  to end it: .*\n  rank 0 has ended\n"
        rf"  {line}\n  a note$",
    ):
        torch.multiprocessing.spawn(program, nprocs=2)
    assert sorted(stopped) == [0, 1]
    assert torch.scheduler.alive == []


def test_an_interrupt_ends_all_ranks():
    torch = make()
    ended = []

    def program(rank):
        try:
            while True:
                torch.zeros(16, dp=ALL).numpy()
                if rank == 1:
                    raise KeyboardInterrupt
        finally:
            ended.append(rank)

    with pytest.raises(KeyboardInterrupt):
        torch.multiprocessing.spawn(program, nprocs=2)
    assert sorted(ended) == [0, 1]
    assert torch.scheduler.alive == []


def test_an_interrupt_while_time_passes_ends_all_ranks():
    torch = make()
    ended = []

    def program(rank):
        try:
            torch.launch("slow", slow_kernel, torch.zeros(16, dp=ALL)).wait()
        finally:
            ended.append(rank)

    torch.scheduler.machine.clock.call_at(20_000.0, torch.scheduler.machine.clock.interrupt)
    with pytest.raises(KeyboardInterrupt):
        torch.multiprocessing.spawn(program, nprocs=2)
    assert sorted(ended) == [0, 1]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda mp: mp.spawn(work, nprocs=0), "number of ranks"),
        (lambda mp: mp.spawn(work, nprocs=True), "number of ranks"),
        (lambda mp: mp.spawn(None, nprocs=2), "function"),
        (lambda mp: mp.spawn(lambda: None, nprocs=2), r"\(rank, \*args\).*positional"),
        (lambda mp: mp.spawn(lambda rank, a: None, nprocs=2), "missing a required argument: 'a'"),
    ],
)
def test_wrong_calls(call, message):
    with pytest.raises(UsageError, match=message):
        call(make().multiprocessing)


def test_spawn_inside_a_rank_and_a_rank_without_a_sip():
    torch = make()
    with pytest.raises(SpawnException, match=r"inside a rank"):
        torch.multiprocessing.spawn(lambda rank: torch.multiprocessing.spawn(print), nprocs=1)
    with pytest.raises(SpawnException, match=r"rank 2 of 3 failed.*rank 2 has no SIP: this run uses 2"):
        torch.multiprocessing.spawn(lambda rank: torch.zeros(16), nprocs=3)
    torch = make(device="sip:1")
    sips = []
    torch.multiprocessing.spawn(lambda rank: sips.append(torch.zeros(16).sips), nprocs=1)
    assert sips == [(1,)]


def test_the_same_program_takes_the_same_time():
    def run():
        torch = make()
        times = []
        torch.multiprocessing.spawn(
            lambda rank: times.append(work(torch, rank, launches=rank + 1)[1]), nprocs=2
        )
        return times, [handle.record for handle in torch.launches]

    assert run() == run()
