"""Kernel launches: the checks before one is sent, and the handle that waits for it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from kernbench.errors import UsageError
from kernbench.host import same_launch
from kernbench.host.tensors import Tensor
from kernbench.language import KernelCall
from kernbench.language.binding import argument_names
from kernbench.support.hints import shown
from kernbench.support.user_code import defined_in, line_of

if TYPE_CHECKING:
    from kernbench.engine.program.launches import PeTimes, Request
    from kernbench.host.driver import Driver
    from kernbench.host.storage import Storage
    from kernbench.values import DataPlane

Place = tuple[int, int, int]
FAILURE_POLICIES = ("fail_fast", "run_on")
"""``fail_fast`` stops the kernels of a launch at its first failure, ``run_on`` lets the others end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchRecord:
    """A launch in a run's outcome. Times in ns; ``t_start`` is the common start of its ``pes`` PEs.

    ``late_ns`` is how long after the stamp of the launch message that was. ``pe_times`` has each PE's times,
    and ``pe_ns`` is the longest of them from the start to the end of the kernel. ``rank`` is the rank that
    submitted it, None for the bench's own program. ``source`` is the line where the kernel's code starts.
    ``call`` is the line of the host's call that started a kernel of KernBench's own, such as one of a
    collective, and ``for_pes`` how many PEs the job is for, 0 where that was not said. ``language`` is the
    kernel's, and ``blocks`` the size of its grid, 0 without one, with its ``settings``; ``first_of`` how many
    configurations it has, if it ran the first of several for want of a better one, else 0. ``follows`` is the
    number of the launch that was simulated for this one, -1 where it was simulated itself, and ``times`` how
    often it happens: more than once in the last period of a repeat that is simulated. ``model_nodes`` are
    those of a compiled model that it carries out, and ``model_line`` the line of the model where they are,
    each empty where that is not known. ``model_kind`` is the compiler's name of its sort of kernel, or the
    library call's.
    """

    name: str
    t_submit: float
    t_start: float
    t_done: float
    pes: int
    late_ns: float = 0.0
    pe_times: Mapping[Place, PeTimes] = field(default_factory=dict)
    rank: int | None = None
    call: str = ""
    for_pes: int = 0
    language: str = "tl"
    blocks: int = 0
    settings: Mapping[str, Any] = field(default_factory=dict)
    first_of: int = 0
    follows: int = -1
    times: int = 1
    model_nodes: str = ""
    model_line: str = ""
    model_kind: str = ""
    source: str = ""

    @property
    def latency_ns(self) -> float:
        """Time from submission to completion, ns."""
        return self.t_done - self.t_submit

    @property
    def pe_ns(self) -> float:
        """Longest time of a PE from the common start to the end of its kernel, ns; 0 when none has ended."""
        return max((times.exec_ns for times in self.pe_times.values()), default=0.0)


@runtime_checkable
class Grid(Protocol):
    """A kernel that runs block after block: how many there are, and how many were taken by PEs."""

    blocks: int
    taken: int

    def settings(self) -> dict[str, Any]:
        """What is said of its launch beside the number of blocks."""


@dataclass(frozen=True, slots=True)
class LaunchSpec:
    """A launch as the program asks for it: see :meth:`kernbench.host.Context.launch`."""

    name: str
    kernel: Callable[..., Any]
    args: Sequence[object]
    constexpr: Mapping[str, object]
    failure_policy: str = "fail_fast"
    nbytes_code: int = 0
    for_pes: int = 0
    collective: bool = False
    """Whether it is a rank's part of a collective, which no rank leaves out."""
    folded: bool = False
    """Whether that part is carried out by the first of ranks that are alike only."""

    @property
    def grid(self) -> Grid | None:
        """The kernel, where it runs block after block."""
        return self.kernel if isinstance(self.kernel, Grid) else None


class LaunchHandle:
    """A launch that was submitted. It holds its tensors until it is done."""

    def __init__(
        self,
        spec: LaunchSpec,
        targets: Sequence[Place],
        request: Request,
        tensors: Sequence[Tensor],
        driver: Driver,
        call: str,
        follows: int = -1,
    ) -> None:
        self.name = spec.name
        self.call = call
        self.for_pes = spec.for_pes
        self.grid = spec.grid
        """Its blocks, until it is done."""
        self.blocks = self.grid.blocks if self.grid is not None else 0
        self._settings: Callable[[], Mapping[str, Any]] = (
            self.grid.settings if self.grid is not None else dict
        )
        self.source = defined_in(spec.kernel)
        self.language = str(getattr(spec.kernel, "written_in", "tl"))
        self.first_of = 0
        self.model_nodes = self.model_line = self.model_kind = ""
        """What the launch carries out of a compiled model, where that is, and its sort of kernel."""
        self.follows = follows
        self.times = 1
        program = driver.scheduler.current
        self.rank = program.rank
        self.held_since, program.held_since = program.held_since, None
        """When it would have been submitted but for a wait that ``--exact`` leaves out, ns; else None."""
        self.targets = tuple(targets)
        self.request = request
        self.tensors = tuple(tensors)
        self._driver = driver

    @property
    def done(self) -> bool:
        """True when every PE has ended, or the launch has failed."""
        return self.request.done

    def wait(self) -> None:
        """Let simulated time run until the launch is done; raises its error if it failed."""
        self._driver.wait([self.request])

    @property
    def record(self) -> LaunchRecord:
        """Name, times and size; times that have not come are -1."""
        request = self.request
        return LaunchRecord(
            name=self.name,
            t_submit=request.t_submit,
            t_start=request.t_start,
            t_done=request.t_done,
            pes=len(self.targets),
            late_ns=request.late_ns,
            pe_times=request.pe_times,
            rank=self.rank,
            call=self.call,
            for_pes=self.for_pes,
            language=self.language,
            blocks=self.blocks,
            settings=self._settings(),
            first_of=self.first_of,
            follows=self.follows,
            times=self.times,
            model_nodes=self.model_nodes,
            model_line=self.model_line,
            model_kind=self.model_kind,
            source=self.source,
        )

    def finished(self) -> None:
        """The launch is done: let go of its tensors."""
        self.tensors, self.grid = (), None

    def __repr__(self) -> str:
        return f"<launch '{self.name}' on {len(self.targets)} PEs, {'done' if self.done else 'running'}>"


def submit(driver: Driver, data: DataPlane, storage: Storage, spec: LaunchSpec) -> LaunchHandle:
    """Check a launch, wait until its tensors are mapped and written, and send it.

    It runs on every PE that holds a shard of one of its tensors, but not where its part of one is empty; a
    grid does there too, on cubes that have a part. A grid whose tensors lie on one PE of interleaved memory
    runs on all PEs there, one for each block at most. A mistake is a :class:`UsageError` (or
    :class:`KernelError` where arguments do not fit the kernel) before anything is sent. Of ranks that are
    alike only the leader's are sent, and those of a collective that is not folded.
    """
    tensors = _tensors(spec)
    targets = _targets(spec, tensors)
    _check_settings(spec)
    _name_tensors(spec, tensors)
    for tensor in tensors:
        _check_reach(spec.name, tensor, targets, driver.machine.addresses.pe_name)
    call = KernelCall(
        spec.kernel,
        [_bound(a) for a in spec.args],
        {k: _bound(v) for k, v in spec.constexpr.items()},
        name=spec.name,
        data=data,
        called_at=line_of(sys._getframe()),
    )
    for tensor in tensors:
        tensor.settle_writes()
    program = driver.scheduler.current
    if spec.grid is not None:
        _follow(program.launches, tensors, targets)
    code = storage.deploy(spec.name, spec.kernel, spec.nbytes_code, targets)

    def send() -> Request:
        data.races.launch_submitted(targets)
        return driver.launch(call, targets, code, fail_fast=spec.failure_policy == "fail_fast")

    made, follows = None, -1
    if program.alike is not None or program.sent is not None:
        made = same_launch.sent(spec, line_of(sys._getframe()))
    if program.alike is None or made is None or (spec.collective and not spec.folded):
        request = send()
    else:
        sips = sorted({sip for tensor in tensors for sip in tensor.sips})
        request, follows = program.alike.launch(program.rank or 0, made, sips, send)
        if follows >= 0:
            data.races.launch_submitted(())
            data.races.launch_ended(driver.machine.launches)
            request = driver.follow(request, targets[0][0])
            for tensor in tensors:
                tensor.root.unknown = (
                    f"{made.said} was not carried out, as its rank is like rank 0; read rank 0's"
                )
        if spec.folded:
            for tensor in tensors:
                tensor.root.unknown = f"{made.said} was carried out on rank 0 alone; read it before that"
    handle = LaunchHandle(spec, targets, request, tensors, driver, call.line, follows)
    if program.sent is not None and made is not None:
        program.sent.append((made, handle))
    return handle


def _tensors(spec: LaunchSpec) -> list[Tensor]:
    """The tensors among the arguments, each once."""
    name = spec.name
    if not isinstance(name, str) or not name:
        raise UsageError(
            f"launch({shown(name)}, ...): the first argument is the launch's name, then the kernel"
        )
    if not callable(spec.kernel):
        raise UsageError(f"launch '{name}': {shown(spec.kernel)} is not a kernel function")
    labelled = {**{f"argument {i}": a for i, a in enumerate(spec.args)}, **spec.constexpr}
    for label, value in labelled.items():
        inside = value.values() if isinstance(value, Mapping) else value
        if isinstance(inside, Collection) and any(isinstance(v, Tensor) for v in inside):
            raise UsageError(
                f"launch '{name}': {label} holds a tensor inside a {type(value).__name__}; "
                "pass every tensor as an argument of its own"
            )
    return list({id(v): v for v in labelled.values() if isinstance(v, Tensor)}.values())


def _targets(spec: LaunchSpec, tensors: Sequence[Tensor]) -> list[Place]:
    """The PEs that the launch runs on."""
    blocks = spec.grid.blocks if spec.grid is not None else 0
    without = {
        place
        for tensor in tensors
        for place in tensor.idle
        if not blocks or place not in tensor.kernel_arg.placements
    }
    holding = {shard.place for tensor in tensors for shard in tensor.allocation.shards}
    targets = sorted(holding.difference(without))
    if blocks and len(targets) == 1 and all(tensor.is_interleaved for tensor in tensors):
        reaching = (set(tensor.kernel_arg.placements) for tensor in tensors)
        targets = sorted(set.intersection(*reaching))[:blocks]
    if not targets:
        raise UsageError(
            f"launch '{spec.name}': no tensor argument, so no PE to run on; pass at least one tensor"
        )
    return targets


def _check_settings(spec: LaunchSpec) -> None:
    if spec.failure_policy not in FAILURE_POLICIES:
        raise UsageError(
            f"launch '{spec.name}': failure_policy is {spec.failure_policy!r}; it must be one of "
            f"{', '.join(map(repr, FAILURE_POLICIES))}"
        )
    if isinstance(spec.for_pes, bool) or not isinstance(spec.for_pes, int) or spec.for_pes < 0:
        raise UsageError(
            f"launch '{spec.name}': for_pes is {shown(spec.for_pes)}; give how many PEs the job is for"
        )


def _name_tensors(spec: LaunchSpec, tensors: Sequence[Tensor]) -> None:
    """Tensors without a name take that of the kernel's parameter."""
    if any(tensor.takes_name for tensor in tensors):
        names = argument_names(spec.kernel, len(spec.args))
        for argument, value in [*zip(names, spec.args, strict=True), *spec.constexpr.items()]:
            if isinstance(value, Tensor):
                value.take_name(argument)


def _follow(running: Sequence[LaunchHandle], tensors: Sequence[Tensor], targets: Collection[Place]) -> None:
    """Wait for launches with the same tensors that are also on other PEs: grids follow each other."""
    used = {id(tensor.root) for tensor in tensors}
    for handle in list(running):
        elsewhere = not set(handle.targets).issubset(targets)
        if not handle.done and elsewhere and any(id(tensor.root) in used for tensor in handle.tensors):
            handle.wait()


def _bound(value: object) -> object:
    return value.kernel_arg if isinstance(value, Tensor) else value


def _check_reach(
    name: str, tensor: Tensor, targets: Sequence[Place], pe_name: Callable[[int, int, int], str]
) -> None:
    """Every PE of the launch must be able to reach the tensor."""
    placements = tensor.kernel_arg.placements
    for target in targets:
        if target not in placements:
            raise UsageError(
                f"launch '{name}' runs on {pe_name(*target)}, which cannot reach "
                f"tensor '{tensor.name}'; place it on the SIPs and cubes of the others, or replicate it"
            )
