"""What scripts do on ``"cuda"`` themselves: Triton kernels on PyTorch's tensors, events, streams."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from types import FrameType
from typing import Any

import torch

from kernbench.inductor.accelerators import here, of_script, replaced
from kernbench.inductor.buffers import context
from kernbench.inductor.residents import device, untouched
from kernbench.inductor.sources import refused
from kernbench.triton.launching import JITFunction, OnGrid, Placed
from kernbench.triton.runtime import driver


def _placed(kernel: JITFunction, args: tuple[Any, ...], named: dict[str, Any]) -> Placed:
    """The arguments of a launch, tensors of PyTorch's on the machine, where the kernel may write them."""
    given = [one for one in (*args, *named.values()) if isinstance(one, torch.Tensor)]
    if not given:
        return args, named, {}
    names = list(kernel.arg_names)
    if kernel.more:
        first = names.index(kernel.more)
        names[first:] = [f"{kernel.more}[{n}]" for n in range(len(args) - first)]
    offsets: dict[str, int] = {}
    machine = device()
    machine.sweep()

    def there(name: str, value: Any) -> Any:
        if not isinstance(value, torch.Tensor):
            return value
        strided = machine.lent(value, name)
        if strided.offset:
            offsets[name] = strided.offset
        return strided.memory

    with untouched():
        placed = [there(name, one) for name, one in zip(names, args, strict=False)]
        rest = {name: there(name, one) for name, one in named.items()}
    return (*placed, *args[len(placed) :]), rest, offsets


class Event:
    """A point in the run: when all is done that was submitted before ``record``."""

    def __init__(self, enable_timing: bool = False, **_: Any) -> None:
        self._at = -1.0
        self._launches: list[Any] = []

    def record(self, stream: object = None) -> None:
        """Here it is; nothing waits."""
        run = context()
        self._at, self._launches = run.now, [one for one in run.launches if not one.done]

    def synchronize(self) -> None:
        """Wait for what came before it."""
        context().wait(*self._launches)

    def query(self) -> bool:
        """Whether all of that is done."""
        return all(one.done for one in self._launches)

    def wait(self, stream: object = None) -> None:
        """Nothing: the machine has one stream."""

    def elapsed_time(self, end_event: Event) -> float:
        """Simulated ms from this event to another one; waits for both."""
        return (end_event._reached() - self._reached()) * 1e-6

    def _reached(self) -> float:
        if self._at < 0:
            raise refused("torch.cuda.Event: it was not recorded; call record() first")
        self.synchronize()
        return max(self._at, *(float(one.request.t_done) for one in self._launches), 0.0)


class Stream:
    """The machine's only stream: launches that share PEs or tensors run one after the other."""

    def __init__(self, *_: Any, **__: Any) -> None: ...

    def synchronize(self) -> None:
        """Wait for all that was submitted."""
        context().wait_all()

    def record_event(self, event: Event | None = None) -> Event:
        """An event that is recorded now."""
        made = event or Event()
        made.record()
        return made

    def wait_stream(self, stream: object) -> None:
        """Nothing: it is the same one."""

    wait_event = wait_stream

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, *_: object) -> None: ...


class Generator(torch.Generator):  # type: ignore[misc]
    """PyTorch's, where accelerators are the machine."""

    def __new__(cls, device: Any = "cpu") -> Generator:  # noqa: D102, PyTorch's
        made: Generator = super().__new__(cls, here(device))
        return made


def _no_gpu(before: Callable[[], None]) -> Callable[[], None]:
    """``torch.cuda._lazy_init`` that refuses a script's call which needs a GPU, by name and line."""

    def start() -> None:
        frame: FrameType | None = sys._getframe(1)
        while frame is not None and frame.f_code.co_filename == torch.cuda.__file__:
            name, frame = frame.f_code.co_name, frame.f_back
        if of_script(frame):
            raise refused(
                f"torch.cuda.{name} asks for a GPU, which the machine of a run is not; leave it out"
            )
        before()

    return start


@contextmanager
def on_cuda() -> Iterator[None]:
    """Meanwhile kernels of Triton take PyTorch's tensors, and ``torch.cuda`` speaks of the run."""
    only = Stream()
    with ExitStack() as until:
        for owner, name, value in (
            (OnGrid, "placed", staticmethod(_placed)),
            (driver.active, "get_active_torch_device", lambda: torch.device("cpu")),
            (torch, "Generator", Generator),
            (torch.cuda, "synchronize", lambda device=None: context().wait_all()),
            (torch.cuda, "Event", Event),
            (torch.cuda, "Stream", Stream),
            (torch.cuda, "stream", lambda stream: only),
            (torch.cuda, "current_stream", lambda device=None: only),
            (torch.cuda, "_lazy_init", _no_gpu(torch.cuda._lazy_init)),
        ):
            until.enter_context(replaced(owner, name, value))
        yield
