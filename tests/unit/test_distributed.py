"""``torch.distributed``: setting up, and every way to use it wrongly ends in one clear error."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import kernbench as kb
from kernbench.errors import (
    AllocationError,
    CollectiveError,
    ConfigError,
    DeadlockError,
    KernelError,
    LaunchError,
    UsageError,
)
from kernbench.hardware.topology.neighbours import ring
from kernbench.host import DPPolicy
from kernbench.host.collectives import ReduceOp
from kernbench.host.spawn import SpawnException
from tests.ranked_machines import context, machine, run_ranks


def torch(sips: int = 2, **options: Any) -> Any:
    return context(machine(sips, **options))


def fails(program: Any, sips: int = 2, **options: Any) -> str:
    """The message of the run of ``program`` on every rank; of a deadlock, with all who wait."""
    config = options.pop("config", None)
    with pytest.raises((SpawnException, DeadlockError)) as raised:
        run_ranks(machine(sips, **options), program, config=config)
    return "\n".join([str(raised.value), *getattr(raised.value, "waiting", ())])


# -- setting up -------------------------------------------------------------------------------------


def test_before_it_is_set_up() -> None:
    t = torch()
    assert not t.distributed.is_initialized()
    assert t.distributed.is_available()
    x = t.zeros(4)
    for use in (
        lambda: t.distributed.all_reduce(x),
        lambda: t.distributed.get_rank(),
        lambda: t.distributed.get_world_size(),
        lambda: t.distributed.get_backend(),
        lambda: t.distributed.barrier(),
        lambda: t.distributed.group,
        lambda: t.distributed.new_group([0]),
        lambda: t.distributed.destroy_process_group(),
        lambda: t.distributed.isend(x, 1),
    ):
        with pytest.raises(
            RuntimeError, match=r"has not been initialized; call init_process_group\('ahbm'\)"
        ):
            use()


def test_set_up_in_the_bench_or_in_every_rank() -> None:
    t = torch(3)
    t.distributed.init_process_group(backend="ahbm")
    assert (t.distributed.get_backend(), t.distributed.get_world_size()) == ("ahbm", 3)
    assert t.distributed.get_rank() == 0
    assert t.distributed.group.WORLD.size() == 3
    with pytest.raises(CollectiveError, match=r"called twice"):
        t.distributed.init_process_group("ahbm")
    t.distributed.destroy_process_group()
    assert not t.distributed.is_initialized()

    ranks = []

    def program(rank: int) -> None:
        t.distributed.init_process_group("ahbm", rank=rank, world_size=3)
        ranks.append((t.distributed.get_rank(), t.distributed.get_world_size()))
        t.distributed.barrier()

    t.multiprocessing.spawn(program, nprocs=3)
    assert ranks == [(0, 3), (1, 3), (2, 3)]


def test_wrong_ways_to_set_up() -> None:
    t = torch()
    with pytest.raises(ValueError, match=r"'nccl'.*no such backend; use 'ahbm'"):
        t.distributed.init_process_group("nccl")
    with pytest.raises(UsageError, match=r"world_size 3: this run has 2 SIPs"):
        t.distributed.init_process_group("ahbm", world_size=3)
    with pytest.raises(UsageError, match=r"world_size 5: this run has 2 SIPs"):
        t.distributed.init_process_group("ahbm", config={"defaults": {"world_size": 5}})
    with pytest.raises(SpawnException, match=r"this is rank 1; leave rank out"):
        t.multiprocessing.spawn(lambda rank: t.distributed.init_process_group("ahbm", rank=0), nprocs=2)
    t = torch()
    with pytest.raises(SpawnException, match=r"another rank has set up 2 ranks"):
        t.multiprocessing.spawn(
            lambda rank: t.distributed.init_process_group("ahbm", world_size=2 - rank), nprocs=2
        )


@pytest.mark.parametrize(
    ("config", "size"),
    [
        ({}, 6),
        ({"defaults": {"world_size": 4}}, 4),
        ({"algorithms": {"lrab_hierarchical_allreduce": {"world_size": 3}}}, 3),
        (
            {"defaults": {"world_size": 4}, "algorithms": {"lrab_hierarchical_allreduce": {"world_size": 3}}},
            3,
        ),
        ({"defaults": {"world_size": 4}, "algorithms": {"ring": {"world_size": 3}}}, 4),
    ],
)
def test_world_size_of_the_algorithm_then_the_defaults_then_the_machine(config: Any, size: int) -> None:
    t = torch(6)
    t.distributed.init_process_group("ahbm", config=config)
    assert t.distributed.get_world_size() == size


def test_fewer_ranks_than_sips() -> None:
    def program(rank: int, torch: Any) -> Any:
        x = torch.full((5,), rank + 1, dtype="f32")
        torch.distributed.all_reduce(x)
        return x.numpy()

    results, _ = run_ranks(machine(4), program, config={"defaults": {"world_size": 3}})
    assert len(results) == 3
    np.testing.assert_array_equal(results, np.full((3, 5), 6))


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"collectives": {"all_reduce": "rnig"}}, "algorithm 'rnig' does not exist.*did you mean 'ring'"),
        ({"collectives": {"all_redcue": "ring"}}, "not a collective; did you mean 'all_reduce'"),
        ({"collectives": {"all_reduce": "no/such.py"}}, "algorithm file .no/such.py. does not exist"),
        ({"collectives": {"all_reduce": "json"}}, "does not exist"),
        ({"collectives": {"all_reduce": "json.tool"}}, "has no ALGORITHMS"),
        ({"defaults": {"slots": 0}}, r"config=: defaults.slots: .*greater than or equal to 1"),
        ({"defaults": {"slot": 3}}, r"defaults.slot: "),
        ({"nonsense": 1}, "nonsense"),
        ("no-such-file.yaml", "no-such-file.yaml: cannot be read"),
    ],
)
def test_wrong_configurations(config: Any, message: str) -> None:
    def use(t: Any) -> None:
        t.distributed.init_process_group("ahbm", config=config)
        t.distributed.all_reduce(t.zeros(4))

    with pytest.raises(ConfigError, match=message):
        use(torch(1))


def test_a_configuration_file(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "ccl.yaml"
    file.write_text("collectives: {all_reduce: recursive_doubling}\n")
    monkeypatch.setenv("KERNBENCH_CCL", str(file))

    def program(rank: int, torch: Any) -> None:
        torch.distributed.all_reduce(torch.zeros(4))

    _, t = run_ranks(machine(2), program)
    assert {handle.name for handle in t.launches} == {"all_reduce/recursive_doubling"}
    file.write_text("collectives: [")
    with pytest.raises(ConfigError, match=r"ccl.yaml:\d: bad YAML"):
        torch().distributed.init_process_group("ahbm")


# -- wrong calls ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda d, x, t: d.all_reduce(x, op="median"), "op='median' is not a reduction"),
        (lambda d, x, t: d.all_reduce([x]), "is not a tensor"),
        (lambda d, x, t: d.all_reduce(x, group=3), "group=3 is not a group"),
        (lambda d, x, t: d.broadcast(x, src=2), "broadcast: rank 2 is not in the default group"),
        (lambda d, x, t: d.reduce(x, dst=-1), "reduce: rank -1 is not in"),
        (lambda d, x, t: d.all_gather([x], x), "tensor_list holds 1 tensors; give one for each of the 2"),
        (lambda d, x, t: d.all_gather(x, x), "tensor_list holds"),
        (lambda d, x, t: d.all_gather([x, t.zeros(5)], x), r"has shape \(5,\), .* \(4,\); use one shape"),
        (lambda d, x, t: d.all_gather([x, t.zeros(4, dtype="f32")], x), "is f32, .* is f16; use one dtype"),
        (lambda d, x, t: d.all_gather_into_tensor(t.zeros(7), x), r"it must have \(8,\)"),
        (lambda d, x, t: d.reduce_scatter_tensor(t.zeros(3), x), r"it must have \(6,\)"),
        (lambda d, x, t: d.gather(x, [x, x], dst=1 - d.get_rank()), "gather_list is for rank . alone"),
        (lambda d, x, t: d.gather(x, dst=d.get_rank()), "gather_list holds None"),
        (lambda d, x, t: d.all_to_all([x, x], [x]), "input_tensor_list holds 1 tensors"),
        (lambda d, x, t: d.send(x, d.get_rank()), "cannot send to itself"),
        (lambda d, x, t: d.recv(x, 7), "recv: rank 7 is not in"),
        (lambda d, x, t: d.new_group([0, 0]), "different ranks"),
        (lambda d, x, t: d.new_group([5]), "below the world size of 2"),
        (lambda d, x, t: d.all_reduce(x, group=d.new_group([1 - d.get_rank()])), "is not in group|disagree"),
        (lambda d, x, t: d.all_reduce(x, group=d.group.CUBES), ""),
        (lambda d, x, t: (x.free(), d.all_reduce(x)), "was freed"),
    ],
)
def test_wrong_calls(call: Any, message: str) -> None:
    def program(rank: int, torch: Any) -> None:
        call(torch.distributed, torch.zeros(4), torch)

    if message:
        with pytest.raises(SpawnException, match=message):
            run_ranks(machine(2), program)
    else:
        run_ranks(machine(2), program)


def test_outside_of_a_rank() -> None:
    t = torch()
    t.distributed.init_process_group("ahbm")
    with pytest.raises(UsageError, match=r"outside of a rank would deadlock.*spawn"):
        t.distributed.all_reduce(t.zeros(4))
    t = torch(1)
    t.distributed.init_process_group("ahbm")
    x = t.full((4,), 3)
    t.distributed.all_reduce(x)
    np.testing.assert_array_equal(x.numpy(), np.full(4, 3))


def test_fewer_ranks_spawned_than_the_group_has() -> None:
    t = torch(3)
    t.distributed.init_process_group("ahbm")
    with pytest.raises(SpawnException, match=r"3 ranks up to 2, and spawn started 2; spawn\(nprocs=3\)"):
        t.multiprocessing.spawn(lambda rank: t.distributed.all_reduce(t.zeros(4)), nprocs=2)


def test_a_tensor_on_the_wrong_sip() -> None:
    def program(rank: int, torch: Any) -> None:
        torch.ahbm.set_device(0)
        torch.distributed.all_reduce(torch.zeros(4, name="x"))

    assert "tensor 'x' lies on SIP 0, and rank 1 is SIP 1" in fails(program)


# -- what an algorithm cannot serve -----------------------------------------------------------------


def only(algorithm: str) -> dict[str, Any]:
    return {"collectives": {"all_reduce": algorithm}}


@pytest.mark.parametrize(
    ("algorithm", "policy", "group", "message"),
    [
        ("ring", DPPolicy("row_wise", num_pes=1), "CUBES", "ring: it sums over ranks, not over cubes"),
        ("three_level", None, "WORLD", "three_level: it sums over pes, not over ranks"),
        (
            "lrab_hierarchical_allreduce",
            DPPolicy("replicate", num_pes=1),
            "CUBES",
            "place it row_wise over cubes",
        ),
        (
            "lrab_hierarchical_allreduce",
            DPPolicy("column_wise", num_pes=1),
            "CUBES",
            "place it row_wise over",
        ),
        ("lrab_hierarchical_allreduce", DPPolicy("row_wise", num_cubes=3, num_pes=1), "CUBES", "whole rows"),
        ("three_level", DPPolicy("row_wise", "replicate"), "PES", "row_wise over cubes and PEs"),
        ("lrab_hierarchical_allreduce", DPPolicy("row_wise", "row_wise"), "PES", "sums over ranks and cubes"),
    ],
)
def test_nothing_is_sent_where_no_algorithm_serves(
    algorithm: str, policy: Any, group: str, message: str
) -> None:
    launched = []

    def program(rank: int, torch: Any) -> None:
        x = torch.zeros((48, 48), dp=policy)
        x.settle_writes()
        before = torch.submitted
        try:
            torch.distributed.all_reduce(x, group=getattr(torch.distributed.group, group))
        finally:
            launched.append(torch.submitted - before)

    assert message in fails(program, cubes=(2, 2), pes=2, config=only(algorithm))
    assert set(launched) == {0}


def test_an_algorithm_does_not_see_the_options_of_one_that_refused(tmp_path: Any) -> None:
    code = (
        "from dataclasses import replace\n"
        "from kernbench.host.collectives.algorithms import ring\n"
        "why = lambda call: f'options {call.options}' if call.options.get('deny') else None\n"
        "ALGORITHMS = tuple(replace(one, refuses=why) for one in ring.ALGORITHMS)\n"
    )
    names = []
    for name in ("first", "second"):
        names.append(str(tmp_path / f"{name}.py"))
        (tmp_path / f"{name}.py").write_text(code, encoding="utf-8")

    def program(rank: int, torch: Any) -> Any:
        x = torch.full((4,), rank + 1, dtype="f32")
        torch.distributed.all_reduce(x)
        return x.numpy()[0]

    config = {"collectives": {"all_reduce": names}, "algorithms": {names[0]: {"deny": True}}}
    results, t = run_ranks(machine(2), program, config=config)
    assert results == [3, 3]
    assert {handle.name for handle in t.launches} == {f"all_reduce/{names[1]}"}


def test_part_of_a_torus_is_not_a_torus_but_another_algorithm_serves_it() -> None:
    def program(rank: int, torch: Any) -> Any:
        part = torch.distributed.new_group([0, 1, 4])
        x = torch.full((6,), rank, dtype="f32")
        if rank in part.ranks:
            torch.distributed.all_reduce(x, group=part)
        return x.numpy()

    options: dict[str, Any] = {"pattern": "torus_2d", "grid": (3, 2)}
    message = fails(program, 6, config=only("lrab_hierarchical_allreduce"), **options)
    assert "torus_2d joins all 6 SIPs, and the group has 3; use a ring algorithm" in message
    results, t = run_ranks(machine(6, **options), program)
    np.testing.assert_array_equal([r[0] for r in results], [5, 5, 2, 3, 5, 5])
    assert {handle.name for handle in t.launches} == {"all_reduce/recursive_doubling"}


def test_queues_larger_than_their_memory() -> None:
    def program(rank: int, torch: Any) -> None:
        torch.distributed.all_reduce(torch.zeros(4))

    with pytest.raises(SpawnException, match=r"rings of 4 slots of 1048576 bytes") as raised:
        run_ranks(machine(2), program, config={"defaults": {"slot_bytes": 1 << 20}})
    assert isinstance(raised.value.errors[0], AllocationError)


# -- ranks that disagree ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda d, r, t: d.all_reduce(t.zeros(4 + r)), r"in the shapes of call 0 of the default group"),
        (lambda d, r, t: d.all_reduce(t.zeros(4, dtype=("f16", "f32")[r])), "in the dtype of call 0"),
        (lambda d, r, t: d.all_reduce(t.zeros(4), op=("sum", "max")[r]), "in the op of call 0"),
        (lambda d, r, t: d.broadcast(t.zeros(4), src=r), "in the root of call 0"),
        (lambda d, r, t: d.barrier() if r else d.all_reduce(t.zeros(4)), "in the collective of call 0"),
        (
            lambda d, r, t: [d.all_reduce(t.zeros(4), op=op) for op in (("sum", "max"), ("max", "sum"))[r]],
            "make the same calls in the same order",
        ),
        (
            lambda d, r, t: d.all_reduce(t.zeros(4, dp=DPPolicy(num_cubes=1, num_pes=1 + r))),
            "in the placement of call 0.*place the tensors alike",
        ),
        (
            lambda d, r, t: d.recv(t.zeros(4), 0) if r else d.send(t.zeros(5), 1),
            r"message 0 from rank 0 to rank 1: rank 0 sends f16 \(5,\) \(.*\), rank 1 receives f16 \(4,\) \(",
        ),
        (
            lambda d, r, t: d.recv(t.zeros(4, dtype="f32"), 0) if r else d.send(t.zeros(4), 1),
            "in the dtype of message 0 .* let both tensors have one dtype",
        ),
        (lambda d, r, t: d.new_group([r]), "disagree in new_group call 0"),
        (
            lambda d, r, t: d.all_to_all([t.zeros(2), t.zeros(3)], [t.zeros(2), t.zeros(3)]),
            r"rank 1 sends \(2,\) to rank 0, which receives \(3,\)",
        ),
    ],
)
def test_ranks_that_disagree(call: Any, message: str) -> None:
    def program(rank: int, torch: Any) -> None:
        call(torch.distributed, rank, torch)

    with pytest.raises(SpawnException, match=message) as raised:
        run_ranks(machine(2, pes=2), program)
    (error,) = raised.value.errors.values()
    assert isinstance(error, CollectiveError)
    if "new_group" not in message and r"sends \(2" not in message:
        assert str(error).count("test_distributed.py:") == 2, "both lines are named"


# -- ranks that never meet --------------------------------------------------------------------------


def test_a_rank_that_never_joins() -> None:
    def program(rank: int, torch: Any) -> None:
        if rank != 1:
            torch.distributed.all_reduce(torch.zeros(4))

    message = fails(program, 3)
    assert "rank 1 has ended" in message
    assert (
        "call 0 of the default group, all_reduce(sum) of f16 (4,), waits for rank 1, which has not made it"
        in message
    )
    assert "rank 0 waits for" in message
    # The line of the shipped algorithm, where no code of the user's is in the kernel.
    assert re.search(r"in tl\.wait at lrab_hierarchical_allreduce\.py:\d+", message)


def test_a_deadlock_of_six_ranks() -> None:
    def program(rank: int, torch: Any) -> None:
        x = torch.zeros(4)
        torch.distributed.recv(x, (rank + 1) % 6)
        torch.distributed.send(x, (rank - 1) % 6)

    message = fails(program, 6)
    for rank in range(6):
        assert f"rank {rank} waits for" in message
        assert f"message 0 from rank {rank} to rank {(rank - 1) % 6}: rank {rank} does not send it" in message


def broken(x: Any, tl: Any) -> None:
    raise KernelError("broken on purpose")


def test_a_kernel_that_fails_is_the_root_cause_for_ranks_that_wait_for_it() -> None:
    def program(rank: int, torch: Any) -> None:
        x = torch.zeros(4)
        if rank == 1:
            torch.launch("broken", broken, x).wait()
        torch.distributed.all_reduce(x)

    with pytest.raises(SpawnException, match=r"rank 1 of 2 failed.*kernel 'broken' failed") as raised:
        run_ranks(machine(2), program)
    assert list(raised.value.errors) == [1]
    assert isinstance(raised.value.errors[1], LaunchError)


def hears(x: Any, tl: Any) -> None:
    tl.recv("E")


def test_ranks_whose_kernels_starve_are_no_root_cause() -> None:
    t = torch(3)
    t.install_ipcq(ring([(sip, 0, 0) for sip in range(3)]))

    def program(rank: int) -> None:
        t.launch("broken" if rank == 1 else "hears", broken if rank == 1 else hears, t.zeros(4))

    with pytest.raises(SpawnException, match=r"^rank 1 of 3 failed.*kernel 'broken' failed") as raised:
        t.multiprocessing.spawn(program, nprocs=3)
    assert list(raised.value.errors) == [1]


def test_names_of_operations() -> None:
    assert [op.value for op in ReduceOp] == ["sum", "max", "min", "prod", "avg"]
    assert torch().distributed.ReduceOp.PRODUCT is ReduceOp.PRODUCT


def test_pieces_are_printed_where_the_environment_asks(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def pieces() -> list[str]:
        topo = {"system.sips": 2}
        run = kb.run("ccl-allreduce", "minimal", params={"elements": 4000}, topo=topo, store="memory:")
        messages = [r for r in run.tables["Transaction"].to_pylist() if r["kind"] == "ipcq_token"]
        lines = capfd.readouterr().err.splitlines()
        sent = [(r["t_submit"], r["t_done"], r["bytes"]) for r in sorted(messages, key=lambda r: r["t_done"])]
        for line, (at, there, nbytes) in zip(lines, sent, strict=bool(lines)):
            assert f", {at:.3f} ns, global_E, {nbytes} bytes, " in line
            assert line.endswith(f"there at {there:.3f} ns")
        assert len(sent) == 4
        return lines

    assert pieces() == []
    monkeypatch.setenv("KERNBENCH_CCL_TRACE", "1")
    lines = pieces()
    assert [line.split(",")[0] for line in lines] == [f"ccl: rank {rank}" for rank in (0, 1, 1, 0)]
