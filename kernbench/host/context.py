"""``torch``, the argument of a bench's ``run(torch)``: reads like PyTorch, drives the simulated machine.

Tensors are made on SIP 0, or on every SIP of the device selection (each SIP a full copy of its own). A launch
runs wherever its tensors are: with ``--device all`` data parallel over SIPs, which a kernel tells apart by
``tl.program_id(2)``.
"""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from typing import Any, NoReturn

from kernbench.engine.machine.machine import Machine
from kernbench.errors import UsageError
from kernbench.hardware.topology.neighbours import MachineShape, Neighbours
from kernbench.host import expectations
from kernbench.host.devices import Accelerator, Ahbm, parse_device
from kernbench.host.driver import Driver
from kernbench.host.estimates import Estimate
from kernbench.host.expectations import Check, Expected
from kernbench.host.factory import TensorFactory
from kernbench.host.launching import LaunchHandle, LaunchSpec, submit
from kernbench.host.queue_sets import Queues, QueueSet
from kernbench.host.repeats import periods
from kernbench.host.scheduler import Scheduler
from kernbench.host.spawn import Multiprocessing
from kernbench.host.standing import Stage
from kernbench.host.storage import Storage
from kernbench.host.tensors import Tensor
from kernbench.language import Autotuned, Choices
from kernbench.language.autotune import chosen
from kernbench.support.bounds import check_number
from kernbench.support.hints import shown, suggestion
from kernbench.values import DataPlane


class Params(Mapping[str, Any]):
    """Read-only values by name, as attributes or as items."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        self._values = dict(values)

    def __getattr__(self, name: str) -> Any:
        try:
            return self.__dict__["_values"][name]
        except KeyError:
            raise UnknownParameterError(
                f"the bench has no parameter '{name}'; declare it in @bench(params=[...])"
            ) from None

    def __getitem__(self, name: str) -> Any:
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        return f"Params({', '.join(f'{k}={v!r}' for k, v in self._values.items())})"


class UnknownParameterError(UsageError, AttributeError):
    """A bench reads a parameter that it has not declared."""


class Context(TensorFactory):
    """One program on one machine.

    ``device`` is ``"all"`` or ``"sip:N"``; by default tensors are made on SIP 0 until the program sets
    another. ``params`` are the bench's parameters, for ``torch.params.name``.
    ``data`` must be among the machine's instruments. Leaving ``with`` frees all tensors.
    """

    def __init__(
        self,
        machine: Machine,
        data: DataPlane,
        *,
        device: str | None = None,
        params: Mapping[str, object] | None = None,
        correlation_id: str = "run",
        on_wait: Callable[[], None] | None = None,
        choices: Choices | None = None,
        exact: bool = False,
        strict_device: bool = False,
    ) -> None:
        properties = machine.graph.properties
        selected = parse_device(device, int(properties["sips"]))
        self.scheduler = Scheduler(machine)
        """Runs the ranks, and knows which of them is running."""
        ahbm = Ahbm(selected, selected[:1] if device is None else selected, self.scheduler)
        self._driver = Driver(machine, self.scheduler, correlation_id, on_wait)
        super().__init__(
            Storage(self._driver, data, self.wait_all, self.launch),
            ahbm,
            MachineShape.of(machine.graph),
        )
        self.accelerator = Accelerator(ahbm)
        self.multiprocessing = Multiprocessing(self)
        self.address_model = str(properties["address_model"])
        self.params = Params(params or {})
        self.launches: list[LaunchHandle] = []
        """Every launch so far, in the order of submission."""
        self.choices = choices or Choices()
        """The configurations that launches of autotuned kernels take."""
        self.queues = Queues(self.storage)
        """Queues between PEs that are set up."""
        self.checks: list[Check] = []
        self._data = data
        self.graph = machine.graph
        """The compiled topology."""
        self._closed = False
        self.exact = exact
        """Whether all ranks and all periods of repeats are simulated."""
        self.made_exact = False
        """Whether something was said to be alike, and was simulated nevertheless."""
        self.stage: Stage | None = None
        """Where the repeat stands that it is in."""
        self.estimates: list[Estimate] = []
        """What was accounted for without being simulated."""
        self.strict_device = strict_device
        """Whether it is an error that the host carries out a part of a model."""
        self.on_host: dict[str, tuple[int, int]] = {}
        """What it carried out nevertheless: how often, and of how many bytes, by name."""

    @cached_property
    def scratch_bytes(self) -> int:
        """Bytes of TCM that a kernel has for its handles, on the PE that has fewest."""
        return min(int(node.properties["scratch_bytes"]) for node in self.graph.nodes("PeTcm"))

    # -- work ---------------------------------------------------------------------------------------

    def launch(
        self,
        name: str,
        kernel: Callable[..., Any],
        *args: object,
        failure_policy: str = "fail_fast",
        nbytes_code: int = 0,
        for_pes: int = 0,
        **constexpr: object,
    ) -> LaunchHandle:
        """Start ``kernel`` on every PE that holds a shard of one of its tensor arguments; does not wait.

        Launches that share a PE run in the order in which they were submitted. One of a Triton kernel also
        waits for those with the same tensors on other PEs.

        Args:
            name: What the launch is called in the trace.
            kernel: The kernel. One with configurations (:func:`kernbench.autotune`) gets those parameters
                that are left out.
            args: Its arguments: tensors reach it as pointers, everything else as it is.
            failure_policy: ``"fail_fast"`` stops the kernels of all PEs at the first failure, ``"run_on"``
                lets the others end.
            nbytes_code: Size of the kernel's code in bytes, written to the memory of each SIP of the launch
                before its first one there; with 0 it is on every PE.
            for_pes: How many PEs the job is for, so that advice does not ask for more; 0 says nothing.
            constexpr: Further arguments by name.

        Raises:
            UsageError: No argument is a tensor, or a PE of the launch cannot reach one.
            KernelError: The arguments do not fit the kernel.
        """
        self._before_making()
        choose = partial(self._choose, len(self.launches))
        kernel, constexpr = chosen(kernel, args, constexpr, choose)
        spec = LaunchSpec(name, kernel, args, constexpr, failure_policy, nbytes_code, for_pes)
        handle = self._submit(spec)
        made = self.choices.made[-1:]
        if made and made[0].launch == len(self.launches) - 1:
            handle.first_of = made[0].first_of
        return handle

    def launch_part(
        self, name: str, kernel: Callable[..., Any], *args: object, folded: bool = False
    ) -> LaunchHandle:
        """Start the current rank's part of a collective, as :meth:`launch` does; no rank leaves it out.

        Of one that is ``folded`` only that of the first of ranks that are alike is carried out.
        """
        self._before_making()
        return self._submit(LaunchSpec(name, kernel, args, {}, collective=True, folded=folded))

    def _submit(self, spec: LaunchSpec) -> LaunchHandle:
        handle = submit(self._driver, self._data, self.storage, spec)
        self.launches.append(handle)
        self.scheduler.current.launches.append(handle)
        return handle

    def _choose(
        self, launch: int, kernel: Autotuned, args: Sequence[Any], given: Mapping[str, Any]
    ) -> Mapping[str, Any]:
        return self.choices.choose(kernel, launch, args, given)

    def install_ipcq(
        self,
        neighbours: str | Sequence[str] | Neighbours,
        *,
        among: Iterable[tuple[int, int, int]] | None = None,
        slots: int | None = None,
        slot_bytes: int | None = None,
        buffer_kind: str | None = None,
    ) -> QueueSet:
        """Set up queues between PEs, and return when every PE has its own.

        Args:
            neighbours: patterns (``"intercube_mesh"``, ``"intracube_pe_ring"``, ``"inter_sip"``,
                ``"mesh_rows"``, ``"mesh_columns"``), or for each PE (sip, cube, pe) the PE that each of its
                directions leads to; see :mod:`kernbench.hardware.topology.neighbours`.
            among: the PEs that take part in patterns, by default all of the machine.
            slots: slots of each ring; the topology's ``pe.pe_ipcq.slots`` by default.
            slot_bytes: bytes of a slot; the topology's by default.
            buffer_kind: ``"tcm"``, ``"sram"`` or ``"hbm"``: memory of the rings; the topology's by default.

        Raises:
            UsageError: an unknown pattern or PE, or a direction that a PE has already.
            AllocationError: the rings do not fit their memory.
        """
        self._before_making()
        return self.queues.install(neighbours, among, slots, slot_bytes, buffer_kind)

    def repeat(self, n: int, simulate: int = 3, name: str = "period") -> Iterator[int]:
        """Loop over ``n`` equal periods: ``for i in torch.repeat(80): layer(i)``. Simulates the first few.

        The body runs for the first ``simulate`` periods. Each ends when all that was submitted is done. The
        clock then advances by the remaining periods, each as long as the last one, and all counts grow in
        proportion. All ranks of a spawn must repeat alike. Make tensors before the loop, because making them
        inside takes simulated time. With ``--exact`` every period runs.

        Args:
            n: How many periods there are.
            simulate: How many of them are simulated, 2 or more; where the body takes tensors in turn, one
                more than it has sets of them.
            name: What one is called, such as ``"layer"``.

        Raises:
            UsageError: An argument does not fit; a period launches nothing, or not what the one before it
                did; a rank stays away; it is within another one; or results are to be verified.
        """
        return periods(self, n, simulate, name)

    def wait(self, *handles: LaunchHandle) -> None:
        """Wait for these launches; the first error is raised."""
        self._driver.wait([handle.request for handle in handles])
        self._prune()

    def wait_all(self) -> None:
        """Wait for everything that the current program (the bench's own, or a rank) has submitted.

        The first error is raised.
        """
        self._driver.wait_all()
        self._prune()

    def hold(self) -> None:
        """As :meth:`wait_all`, where a program waits only because a run accounts for periods or packages."""
        program = self.scheduler.current
        if program.held_since is None:
            program.held_since = self.now
        self.wait_all()

    def check(
        self,
        name: str,
        tensor: Tensor,
        expected: Expected,
        *,
        sip: int | None = None,
        tolerance: float | None = None,
    ) -> None:
        """Say that ``tensor`` holds ``expected`` when the run ends; compared when verification is on.

        Without verification nothing is read.

        Args:
            name: Name of the check in messages.
            tensor: The tensor; it must live until the end of the run.
            expected: An array, or a function that makes one, which is called only to verify. A
                :class:`kernbench.Bounded` knows how far each element may be off: by the length of its sums
                and the types that results were rounded to.
            sip: The SIP whose copy is compared; by default every SIP's.
            tolerance: ``rtol`` and ``atol``; by default those of a bounded reference, else f32 1e-5,
                f16 1e-3, bf16 1e-2, integers 0.

        Raises:
            UsageError: ``tensor`` is not a tensor, or has no copy on ``sip``.
        """
        if not isinstance(tensor, Tensor):
            raise UsageError(f"check '{name}': {shown(tensor)} is not a tensor")
        if tolerance is not None:
            check_number(f"check '{name}': the tolerance", tolerance)
        tensor.copy_of(sip)
        if self.storage.data.verify:
            expected = expectations.kept(expected, f"check '{name}'")
        self.checks.append(Check(name, tensor, expected, sip, tolerance))

    @cached_property
    def distributed(self) -> Any:
        """``torch.distributed``: a :class:`kernbench.host.collectives.Distributed`."""
        # By name: collectives are built on the runtime, and not the reverse.
        return importlib.import_module("kernbench.host.collectives").Distributed(self)

    # -- surroundings -------------------------------------------------------------------------------

    @property
    def spec(self) -> dict[str, Any]:
        """The topology's specification, as its file has it after defaults."""
        content: dict[str, Any] = json.loads(str(self.graph.properties["spec"]))
        return content

    @property
    def now(self) -> float:
        """Simulated time, ns."""
        return self._driver.now

    @property
    def submitted(self) -> int:
        """Requests submitted so far."""
        return self._driver.submitted

    def __getattr__(self, name: str) -> NoReturn:
        known = [known for known in dir(type(self)) if not known.startswith("_")]
        raise AttributeError(f"torch has no '{name}'; {suggestion(name, known)}help(torch) lists what it has")

    def __enter__(self) -> Context:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is None:
            self.close()
        else:
            self.abandon()

    def close(self) -> None:
        """Wait for everything, free every tensor, and take no more work. A second call does nothing."""
        if self._closed:
            return
        self.multiprocessing.join_all()
        self.wait_all()
        for tensor in self._live():
            tensor.free()
        self.storage.flush()
        self.abandon()

    def abandon(self) -> None:
        """Take no more work and end the ranks; memory goes with the machine."""
        self._closed = True
        self.multiprocessing.stop_all()
        self.storage.close()

    def _before_making(self) -> None:
        if self._closed:
            raise UsageError("this context is closed; make a new one")
        self._prune()

    def _prune(self) -> None:
        """Let go of launches that are done, and so of tensors that only they held."""
        program = self.scheduler.asking
        unfinished = []
        for handle in program.launches:
            if not handle.done:
                unfinished.append(handle)
            else:
                handle.finished()
        program.launches = unfinished
