"""``torch``: what a bench's ``run(torch)`` gets. It reads like PyTorch and drives the simulated machine.

Tensors are made on every SIP of the device selection (each SIP a full copy of its own), and a launch runs
on all of them: data parallel over SIPs, which a kernel tells apart by ``tl.program_id(2)``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NoReturn

import yaml

from kernbench.components.machine import Machine
from kernbench.errors import UsageError
from kernbench.replay import DataPlane
from kernbench.runtime import launches
from kernbench.runtime.checks import Check, Expected
from kernbench.runtime.devices import Accelerator, Ahbm, parse_device
from kernbench.runtime.driver import Driver
from kernbench.runtime.factory import TensorFactory
from kernbench.runtime.launches import LaunchHandle
from kernbench.runtime.params import Params
from kernbench.runtime.storage import Storage
from kernbench.runtime.tensors import Tensor

_LATER = {"distributed": "collectives are", "multiprocessing": "ranks are", "install_ipcq": "IPCQ is"}


class NotInThisVersionError(UsageError, AttributeError):
    """A part of the interface that is not built."""


class Context(TensorFactory):
    """One program on one machine.

    ``device`` is ``"all"`` or ``"sip:N"``; ``params`` are the bench's parameters, for ``torch.params.name``.
    ``data`` must be among the machine's instruments. Leaving ``with`` frees all tensors.
    """

    def __init__(
        self,
        machine: Machine,
        data: DataPlane,
        *,
        device: str = "all",
        params: Mapping[str, object] | None = None,
        correlation_id: str = "run",
        on_wait: Callable[[], None] | None = None,
    ) -> None:
        properties = machine.graph.properties
        ahbm = Ahbm(parse_device(device, int(properties["sips"])))
        self._driver = Driver(machine, correlation_id, on_wait)
        super().__init__(
            Storage(self._driver, data, self.wait_all),
            ahbm,
            int(properties["cubes_per_sip"]),
            int(properties["pes_per_cube"]),
        )
        self.accelerator = Accelerator(ahbm)
        self.address_model = str(properties["address_model"])
        self.params = Params(params or {})
        self.launches: list[LaunchHandle] = []
        """Every launch so far, in the order of submission."""
        self.checks: list[Check] = []
        self._data = data
        self._graph = machine.graph
        self._unfinished: list[LaunchHandle] = []
        self._closed = False

    # -- work ---------------------------------------------------------------------------------------

    def launch(
        self, name: str, kernel: Callable[..., Any], *args: object, **constexpr: object
    ) -> LaunchHandle:
        """Start ``kernel`` on every PE that holds a shard of one of its tensor arguments; does not wait.

        Tensors reach the kernel as pointers, everything else as it is. Launches that share a PE run in the
        order in which they were submitted.
        """
        self._before_making()
        handle = launches.submit(self._driver, self._data, name, kernel, args, constexpr)
        self.launches.append(handle)
        self._unfinished.append(handle)
        return handle

    def wait(self, *handles: LaunchHandle) -> None:
        """Wait for these launches; the first error is raised."""
        self._driver.wait([handle.request for handle in handles])
        self._prune()

    def wait_all(self) -> None:
        """Wait for everything submitted; the first error is raised."""
        self._driver.wait_all()
        self._prune()

    def check(self, name: str, tensor: Tensor, expected: Expected, *, sip: int | None = None) -> None:
        """Say that ``tensor`` holds ``expected`` when the run ends; compared when verification is on.

        ``expected`` is an array or a function that makes one (called only to verify). Every SIP's copy must
        hold it, or that of ``sip`` alone. Without verification nothing is read.
        """
        if not isinstance(tensor, Tensor):
            raise UsageError(f"check '{name}': {tensor!r} is not a tensor")
        tensor.copy_of(sip)
        self.checks.append(Check(name, tensor, expected, sip))

    # -- surroundings -------------------------------------------------------------------------------

    @property
    def spec(self) -> dict[str, Any]:
        """The topology's specification, as its file has it after defaults."""
        spec: dict[str, Any] = yaml.safe_load(str(self._graph.properties["spec"]))
        return spec

    @property
    def now(self) -> float:
        """Simulated time, ns."""
        return self._driver.now

    @property
    def submitted(self) -> int:
        """Requests submitted so far."""
        return self._driver.submitted

    def __getattr__(self, name: str) -> NoReturn:
        if name in _LATER:
            raise NotInThisVersionError(
                f"torch.{name}: {_LATER[name]} not in this version; run one SIP, or the same launch on all"
            )
        raise AttributeError(f"torch has no attribute '{name}'")

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
        self.wait_all()
        for tensor in self._live():
            tensor.free()
        self.storage.flush()
        self.abandon()

    def abandon(self) -> None:
        """Take no more work; memory goes with the machine."""
        self._closed = True
        self.storage.close()

    def _before_making(self) -> None:
        if self._closed:
            raise UsageError("this context is closed; make a new one")
        self._prune()

    def _prune(self) -> None:
        """Let go of launches that are done, and so of tensors that only they held."""
        unfinished = []
        for handle in self._unfinished:
            if not handle.done:
                unfinished.append(handle)
            else:
                handle.finished()
        self._unfinished = unfinished
