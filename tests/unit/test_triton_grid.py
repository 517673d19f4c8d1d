"""Launches on a grid: blocks go to PEs as these become free; what would be silently wrong is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import kernbench as kb
import kernbench.triton as triton
import kernbench.triton.language as tl
from kernbench.errors import KernelError, UsageError
from kernbench.host import DPPolicy
from kernbench.language import interpret
from kernbench.values.races import END, RaceDetector
from kernbench.values.tensor_names import TensorNames
from tests.small_contexts import make


@triton.jit
def number(out, W: tl.constexpr):
    at = tl.program_id(2) * 6 + tl.program_id(1) * 2 + tl.program_id(0)
    for _ in range(W if tl.program_id(0) else 1):
        tl.store(out + at, at + 100 * tl.num_programs(1))


@triton.jit
def clash(x, out):
    tl.store(out + tl.arange(0, 4), tl.load(x + tl.arange(0, 4)) + tl.program_id(0))


@triton.jit
def helper(x):
    total = 0
    for i in range(3):
        total += i
    return x * 2.0 + total


@triton.heuristics({"EVEN": lambda given: given["n"] % given["B"] == 0})
@triton.jit
def doubled(x, out, n, B: tl.constexpr, EVEN: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    mask = None if EVEN else at < n
    tl.store(out + at, helper(tl.load(x + at, mask=mask)), mask=mask)


def on_machine(program: Any, graph: str = "va") -> Any:
    with make(graph, device=None) as torch:
        return program(torch)


def test_every_block_runs_once_whatever_the_number_of_pes() -> None:
    def program(torch: Any) -> Any:
        out = torch.zeros(24, dtype="i32", dp=DPPolicy("row_wise", "row_wise"))
        number[(2, 3, 4)](out, W=5)
        return out.numpy()

    assert (on_machine(program) == np.arange(24) + 300).all()


def test_tensors_have_what_wrappers_of_kernels_ask_for() -> None:
    def program(torch: Any) -> Any:
        x = torch.zeros(2, 3, 4)
        assert (x.device, x.device.type, x.device.index) == ("sip:0", "cuda", 0)
        return x.stride(), x.stride(0), x.stride(-1), x.element_size(), x.is_contiguous(), x.numel()

    assert on_machine(program) == ((12, 4, 1), 12, 1, 2, True, 24)


def test_a_view_is_the_memory_of_its_tensor_under_another_shape() -> None:
    def program(torch: Any) -> None:
        x = torch.from_numpy(np.arange(24, dtype=np.float32).reshape(2, 3, 4), name="x")
        rows = x.view(-1, 4)
        assert (rows.shape, rows.size(0), rows.dim(), rows.stride()) == ((6, 4), 6, 2, (4, 1))
        out = torch.empty(24, dtype="f32").reshape((4, 6))
        doubled[(3,)](rows, out, 24, B=8)
        assert (out.view(24).numpy() == np.arange(24) * 2 + 3).all()
        rows[1, 2] = 50.0
        assert x.numpy()[0, 1, 2] == 50
        assert rows.like().shape == rows.view(2, 12).view(6, 4).shape == (6, 4)
        with pytest.raises(
            UsageError, match=r"'x' of shape \(2, 3, 4\): view\(5, -1\) has 20 elements, expect"
        ):
            x.view(5, -1)
        kept = torch.zeros(8, dtype="f32").view(2, 4)  # which keeps its tensor
        again = torch.zeros(8, dtype="f32")
        again.fill(3)
        assert not kept.numpy().any()
        x.free()
        assert rows.freed
        with pytest.raises(UsageError, match=r"tensor 'x' was freed"):
            rows.numpy()

    on_machine(program)


def test_a_view_of_a_tensor_on_several_pes_is_refused() -> None:
    with pytest.raises(UsageError, match=r"view\(4, -1\): it lies on several PEs; reshape the array before"):
        on_machine(lambda torch: torch.zeros(16, 2, dp=DPPolicy("row_wise", "row_wise")).view(4, -1))


def test_a_grid_may_be_worked_out_from_the_arguments_and_parameters_too() -> None:
    def program(torch: Any) -> Any:
        x = torch.from_numpy(np.arange(20, dtype=np.float32))
        out = torch.zeros(20, dtype="f32")
        doubled[lambda given: (triton.cdiv(given["n"], given["B"]),)](x, out, 20, B=8, num_warps=4)
        return out.numpy()

    assert (on_machine(program) == np.arange(20) * 2 + 3).all()


@pytest.mark.parametrize(
    ("policy", "message"),
    [
        (DPPolicy(pe="column_wise", num_cubes=1), "is not one row-major array as it is placed"),
        (DPPolicy(pe="replicate", num_cubes=1), "is replicated over 2 PEs: a store would change one copy"),
    ],
)
def test_placements_that_would_give_wrong_numbers_are_refused(policy: DPPolicy, message: str) -> None:
    def program(torch: Any) -> None:
        clash[(1,)](torch.zeros(4, 4, dp=policy), torch.zeros(4))

    with pytest.raises(UsageError, match=f"argument 'x': tensor .* {message}"):
        on_machine(program)


def test_shards_that_are_apart_are_refused() -> None:
    def program(torch: Any) -> None:
        clash[(1,)](torch.zeros(4, 4, dp=DPPolicy(pe="row_wise", num_cubes=1)), torch.zeros(4))

    with pytest.raises(UsageError, match="apart in the pa address model"):
        on_machine(program, "pa")


@pytest.mark.parametrize("grid", [(0,), (2, 0), lambda _: (0,)])
def test_a_grid_without_blocks_launches_nothing(grid: Any) -> None:
    def program(torch: Any) -> None:
        x, out = torch.from_numpy(np.ones(4, np.float32)), torch.zeros(4)
        assert clash[grid](x, out) is None
        assert out.numpy().tolist() == [0, 0, 0, 0]

    on_machine(program)


@pytest.mark.parametrize(("machine", "most"), [("minimal", 1), ("h100", 8)])
def test_a_program_counts_the_blocks_that_a_pe_has_at_a_time_as_on_a_gpu(machine: str, most: int) -> None:
    def program(torch: Any) -> None:
        x, out = torch.zeros(4, dtype="f32"), torch.empty(4, dtype="f32")
        kernel = doubled.warmup(x, out, 4, B=4, num_warps=8, grid=(1,))
        kernel._init_handles()
        of_pe = triton.runtime.driver.active.utils.get_device_properties(None)
        by_registers = of_pe["max_num_regs"] // (kernel.n_regs * of_pe["warpSize"] * 8)
        assert (by_registers, of_pe["max_shared_mem"] // kernel.metadata.shared) == (most, most)
        kernel[(1,)](x, out, 4, 4)
        assert out.tolist() == [3.0] * 4

    done = kb.run(program, machine, True, store="memory:", trace=False)
    assert done.launches[0]["num_warps"] == 8


@pytest.mark.parametrize(
    ("launch", "message"),
    [
        (lambda x: clash[(-1,)](x, x), r"grid \(-1,\) must be one to three counts of 1 or more"),
        (lambda x: clash[(1, 1, 1, 1)](x, x), "must be one to three counts"),
        (lambda x: clash[(1,)](x), "missing a required argument: 'out'"),
        (lambda x: clash[(1,)](x, x, residents=0), "residents=0 must be a whole number of 1 or more"),
        (lambda x: clash[(1,)](1, 2), "none of its arguments is a KernBench tensor"),
        (lambda x: clash(x, x), r"is launched on a grid: kernel\[grid\]\(...\)"),
        (lambda x: clash.warmup(x, x, grid=(1,)), "is for programs on a machine"),
        (lambda x: triton.jit(3), "3 is not a function"),
        (lambda x: triton.autotune([{"B": 1}])(clash), "give a list of triton.Config"),
        (lambda x: triton.Config({}, pre_hook=print), "Config: pre_hook= is not carried out; prepare"),
    ],
)
def test_a_bad_launch_says_what_is_wrong(launch: Any, message: str) -> None:
    with pytest.raises((UsageError, KernelError), match=message):
        on_machine(lambda torch: launch(torch.zeros(4)))


@pytest.mark.parametrize("pes", [1, 8])
def test_blocks_that_clash_are_a_race_also_on_one_pe(pes: int) -> None:
    out = np.zeros(8, np.float32)
    policy = DPPolicy(pe="row_wise", num_cubes=1, num_pes=pes)
    done = kb.run_kernel(clash[(3,)], np.ones(8, np.float32), out=out, dp=policy)
    assert done.run.verdict == "race"
    assert "(block 1)" in done.run.problem


def test_blocks_of_a_launch_before_are_over_also_by_way_of_another_launch() -> None:
    detector = RaceDetector(TensorNames())
    targets = [[(0, 0, 5)], [(0, 0, 0)], [(0, 0, 0), (0, 0, 1)], [(0, 0, 0), (0, 0, 1)]]
    for launch, places in enumerate(targets):
        detector.launch_submitted(places)
        threads = [detector.thread(launch, place) for place in places]
    for launch, known in ((0, 0), (1, END), (2, END)):
        assert detector.block(threads[0], 7).clock.of((launch, (0, 0, targets[launch][0][2], 3))) == known


@triton.jit
def passed_on(data, flag):
    if tl.program_id(0) == 0:
        tl.store(data, 7)
        tl.atomic_add(flag, 1)
    else:
        while tl.load(flag, volatile=True) == 0:
            pass
        tl.store(data + 1, tl.load(data) + 1)


def test_what_came_before_a_store_that_a_volatile_load_saw_is_no_race() -> None:
    policy = DPPolicy(pe="row_wise", num_cubes=1, num_pes=2)
    flag = np.zeros(2, np.int32)
    done = kb.run_kernel(passed_on[(2,)], np.zeros(2, np.int32), flag, dp=policy)
    assert done.arrays[0].tolist() == [7, 8]
    assert done.run.verdict != "race", done.run.problem


def test_the_best_configuration_is_found_and_taken() -> None:
    @triton.autotune([triton.Config({"B": 8}, num_stages=2), triton.Config({"B": 64})], key=["n"])
    @triton.jit
    def scaled(x, out, n, B: tl.constexpr):
        for i in range(tl.program_id(0) * B, n, B * tl.num_programs(0)):
            at = i + tl.arange(0, B)
            tl.store(out + at, tl.load(x + at, mask=at < n) * 2.0, mask=at < n)

    x = np.arange(128, dtype=np.float32)
    done = kb.run_kernel(scaled[(1,)], x, out=np.zeros_like(x), n=128, topology="minimal")
    assert (done.output == 2 * x).all()
    assert done.tuning is not None
    assert done.tuning.best[0].config["B"] == 64


def test_do_bench_is_simulated_time_and_the_driver_knows_the_machine() -> None:
    found: dict[str, Any] = {}

    def bench(torch: Any) -> None:
        x, out = torch.zeros(64), torch.zeros(64)

        def run() -> None:
            doubled[(1,)](x, out, 64, B=64)

        found["ms"] = [triton.testing.do_bench(run) for _ in range(2)]
        device = triton.runtime.driver.active.get_current_device()
        triton.testing.assert_close(np.ones(2), [1, 1.001])
        with pytest.raises(AssertionError):
            triton.testing.assert_close(np.ones(2), np.zeros(2))
        assert triton.testing.perf_report(triton.testing.Benchmark(x_vals=[1]))(run).run() is None
        with pytest.raises(AttributeError, match="kernbench sweep"):
            triton.testing.nvsmi  # noqa: B018
        found["device"] = triton.runtime.driver.active.utils.get_device_properties(device)

    done = kb.run(bench, topology="minimal", store="memory:")
    assert 0 < sum(found["ms"]) * 1e6 <= done.sim_ns
    assert found["device"]["multiprocessor_count"] >= 1


@triton.jit
def columns(x, out, first: tl.constexpr, second: tl.constexpr, C: tl.constexpr):
    at = tl.arange(0, 8)[:, None] * 32 + tl.arange(0, C)[None, :]
    if tl.program_id(0) == first:
        tl.store(out + tl.arange(0, 8)[:, None] * C + tl.arange(0, C)[None, :], tl.load(x + at))
    else:
        tl.store(x + second + at, tl.zeros((8, C), tl.float32))


@pytest.mark.parametrize("first", [0, 1])
@pytest.mark.parametrize(("second", "races"), [(16, False), (15, True)])
def test_columns_of_a_block_race_to_the_byte(first: int, second: int, races: bool) -> None:
    x, out = np.ones(8 * 32, np.float32), np.zeros(8 * 16, np.float32)
    done = kb.run_kernel(columns[(2,)], x, out=out, first=first, second=second, C=16)
    assert (done.run.verdict == "race") == races


@triton.jit
def doubled_tiles(x, out, R, C, B: tl.constexpr):
    r = tl.program_id(0) * B + tl.arange(0, B)
    c = tl.program_id(1) * B + tl.arange(0, B)
    at, ok = r[:, None] * C + c[None, :], (r[:, None] < R) & (c[None, :] < C)
    tl.store(out + at, tl.load(x + at, mask=ok) * 2.0, mask=ok)


@pytest.mark.daily("shape0-replicate-keys2", "shape1-column_wise-keys1")
@pytest.mark.parametrize("keys", [{}, {"memory.interleave": "chiplet"}, {"system.address_model": "pa"}])
@pytest.mark.parametrize("how", ["row_wise", "column_wise", "replicate"])
@pytest.mark.parametrize("shape", [(13, 21), (1, 21)])
def test_a_placement_gives_right_numbers_or_is_refused(
    keys: dict[str, str], how: str, shape: tuple[int, int]
) -> None:
    rows, columns = shape
    x = np.arange(rows * columns, dtype=np.float32).reshape(shape)
    grid = (triton.cdiv(rows, 8), triton.cdiv(columns, 8))
    given = {"R": rows, "C": columns, "B": 8, "dp": DPPolicy(pe=how, num_cubes=1, num_pes=4)}
    topology, refused = kb.load_topology("default", keys), ""
    try:
        done = kb.run_kernel(doubled_tiles[grid], x, out=np.zeros_like(x), topology=topology, **given)
    except UsageError as problem:
        refused = str(problem)
    else:
        assert (done.output == 2 * x).all()
    assert refused or how != "replicate"
    assert not refused or how != "row_wise" or "apart in the pa address model" in refused


@pytest.mark.daily("8-8-la", "20-8-va", "3-3-pa")
@pytest.mark.parametrize("model", ["va", "pa", "la"])
@pytest.mark.parametrize(("blocks", "pes"), [(3, 3), (8, 8), (20, 8)])
def test_a_grid_runs_on_all_pes_that_share_the_memory(model: str, blocks: int, pes: int) -> None:
    x = np.arange(16.0 * blocks, dtype=np.float32)
    topology = kb.load_topology(
        "default",
        {"memory.interleave": "chiplet", "system.address_model": model, "system.sips": 1,
         "sip.cube_mesh.w": 2, "sip.cube_mesh.h": 1},
    )  # fmt: skip
    done = kb.run_kernel(
        doubled[(blocks,)],
        x,
        out=np.zeros_like(x),
        topology=topology,
        n=x.size,
        B=16,
        dp=DPPolicy(num_cubes=1, num_pes=1),
    )
    assert (done.output == 2 * x + 3).all()
    assert done.run.launches[0]["pes"] == pes


@triton.jit
def summed(parts, out, n: tl.constexpr):
    tl.store(out, tl.sum(tl.load(parts + tl.arange(0, n))))


@pytest.mark.slow
def test_a_grid_of_fewer_blocks_follows_the_one_that_made_its_input() -> None:
    x = np.arange(128, dtype=np.float32)

    def host(torch: Any) -> None:
        policy = DPPolicy(num_cubes=1, num_pes=1)
        given, parts = torch.from_numpy(x, dp=policy), torch.empty(128, dtype="f32", dp=policy)
        out, other = (torch.empty(1, dtype="f32", dp=policy) for _ in range(2))
        doubled[(8,)](given, parts, 128, B=16)
        summed[(1,)](parts, out, n=128)
        summed[(1,)](given, other, n=128)
        torch.check("out", out, np.array([(2 * x + 3).sum()]))

    topology = kb.load_topology("default", {"memory.interleave": "chiplet"})
    done = kb.run(host, topology=topology, verify=True, check=True)
    assert done.verified
    assert [launch["pes"] for launch in done.launches] == [8, 1, 1]
    first, second, _ = done.launches
    assert second["t_start"] >= first["t_done"]


@pytest.mark.daily("package")
@pytest.mark.parametrize("interleave", [None, "package"])
def test_a_grid_runs_on_pes_whose_part_of_a_short_tensor_is_empty(interleave: str | None) -> None:
    """Four rows are on four of eight PEs; the kernel reads them from all."""

    def bench(torch: Any) -> None:
        x = torch.from_numpy(np.arange(128, dtype=np.float32).reshape(8, 16), dp=by_rows)
        y = torch.from_numpy(np.ones((4, 16), np.float32), dp=by_rows)
        out = torch.zeros(8, 16, dtype="f32", dp=by_rows)
        handle = added[(8,)](x, y, out, B=16)
        assert len(handle.targets) == 8
        torch.check("out", out, lambda: np.arange(128.0).reshape(8, 16) + 1)
        handle.wait()
        assert sum(busy.exec_ns > 0 for busy in handle.record.pe_times.values()) == 8

    by_rows = DPPolicy(cube="replicate", pe="row_wise", num_cubes=1)
    keys = {"cube.pes.count": 8, **({"memory.interleave": interleave} if interleave else {})}
    run = kb.run(bench, kb.load_topology("default", keys), verify=True, trace=False)
    assert run.info["verified"] is True


def test_a_grid_leaves_out_cubes_that_have_no_part_of_a_tensor() -> None:
    """A row is on the first PE of the first of two cubes, whose two PEs run the grid."""

    def program(torch: Any) -> Any:
        by_rows = DPPolicy("row_wise", "row_wise")
        x, out = torch.zeros(8, 16, dtype="f32", dp=by_rows), torch.zeros(8, 16, dtype="f32", dp=by_rows)
        y = torch.full((1, 64), 3.0, dtype="f32", dp=by_rows)
        return len(added[(8,)](x, y, out, B=16).targets), out.numpy()

    pes, result = on_machine(program)
    assert pes == 2
    assert (result == 3).all()


@triton.jit
def added(x, y, out, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(out + at, tl.load(x + at) + tl.load(y + at % 64))


@triton.jit
def lower(x, out, B: tl.constexpr):
    at = tl.arange(0, B)
    block = tl.load(x + at[:, None] * B + at[None, :])
    tl.store(out + at[:, None] * B + at[None, :], tl.where(at[:, None] >= at[None, :], block, 0.0))


def test_masks_of_indices_need_no_trace() -> None:
    ends = []

    def bench(torch: Any) -> None:
        x = torch.empty(8, 8, dtype="f32")
        handle = lower[(1,)](x, torch.empty(8, 8, dtype="f32"), 8)
        handle.wait()
        ends.append(handle.record.t_done)

    for trace in (False, True):
        kb.run(bench, trace=trace, store="memory:")
    assert ends[0] == ends[1]


@triton.jit
def ones(x, n, BLOCK: tl.constexpr):
    tl.store(x + tl.program_id(0) * BLOCK + tl.arange(0, BLOCK), 1.0)


def test_an_empty_grid_launches_nothing_however_it_is_launched() -> None:
    tuned = triton.autotune([triton.Config({"BLOCK": n}) for n in (4, 8)], key=["n"])(triton.jit(ones.fn))

    def of(n: int) -> Any:
        return tuned[lambda meta: (triton.cdiv(n, meta["BLOCK"]),)]

    def bench(torch: Any) -> None:
        x = torch.from_numpy(np.zeros(8, np.float32), name="x")
        for n in (0, 8):
            of(n)(x, n)
        torch.check("x", x, np.ones(8))

    zeros = np.zeros(8, np.float32)
    assert kb.run(bench, "minimal", verify=True, store="memory:").verified is True
    for kernel, more in ((ones[(0,)], {"BLOCK": 4}), (of(0), {})):
        assert not kb.run_kernel(kernel, zeros, 0, topology="minimal", **more).arrays[0].any()
        interpret(kernel, zeros, 0, **more)
    assert kb.run_kernel(of(8), zeros, 8, topology="minimal").arrays[0].all()
    assert not zeros.any()


@pytest.mark.parametrize(("which", "verdict"), [("same", "yes"), ("last", "race"), ("first", "race")])
def test_blocks_that_store_the_same_values_are_named_and_others_fail(which: str, verdict: str) -> None:
    @triton.jit
    def kernel(x, out, WHICH: tl.constexpr):
        at, number = tl.arange(0, 4), tl.program_id(0)
        odd = 3 if WHICH == "last" else 0
        more = 1 if WHICH != "same" and number == odd else 0
        tl.store(out + at, tl.load(x + at) * 2 + more)

    def bench(torch: Any) -> None:
        x, out = torch.from_numpy(np.arange(4, dtype=np.float32)), torch.zeros(4, dtype="f32")
        kernel[(4,)](x, out, which)
        torch.check("doubled", out, np.arange(4, dtype=np.float32) * 2 + (which == "last"))

    topo = {"cube.pes.count": 1}  # blocks one after the other
    if verdict == "yes":
        done = kb.run(bench, "minimal", True, topo=topo, store="memory:")
    else:
        with pytest.raises(kb.RunVerificationError, match="race on tensor 'out'") as raised:
            kb.run(bench, "minimal", True, topo=topo, store="memory:")
        done = raised.value.run
    assert done.verdict == verdict
    (race,) = done.info["races"]
    assert ("both write the same values" in race["message"]) == (verdict == "yes")
    assert race["kind"] == "write-write"
