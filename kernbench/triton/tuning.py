"""``@triton.autotune`` and ``@triton.heuristics``: values for parameters that launches leave out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from kernbench.errors import UsageError
from kernbench.language import Autotuned
from kernbench.support.hints import shown
from kernbench.triton.launching import OPTIONS, JITFunction


class Config:
    """Values for parameters of a kernel, and options of its launch."""

    def __init__(
        self,
        kwargs: Mapping[str, Any],
        num_warps: int = 4,
        num_stages: int = 3,
        num_ctas: int = 1,
        maxnreg: int | None = None,
        pre_hook: object = None,
    ) -> None:
        _no_hook("Config", "pre_hook", pre_hook)
        self.kwargs = dict(kwargs)
        self.num_warps = num_warps
        self.num_stages = num_stages
        self.num_ctas = num_ctas

    def all_kwargs(self) -> dict[str, Any]:
        """The values and the options."""
        return {**self.kwargs, "num_warps": self.num_warps, "num_stages": self.num_stages}

    def __repr__(self) -> str:
        return f"Config({', '.join(f'{key}: {value}' for key, value in self.all_kwargs().items())})"


def _no_hook(where: str, name: str, hook: object) -> None:
    if hook is not None:
        raise UsageError(
            f"triton.{where}: {name}= is not carried out; prepare the arguments before the launch"
        )


def autotune(
    configs: Sequence[Config],
    key: Sequence[str] = (),
    pre_hook: object = None,
    post_hook: object = None,
    **_: Any,
) -> Callable[[JITFunction], Any]:
    """Give a kernel configurations to choose from.

    Args:
        configs: The configurations; the first is used where nothing was measured.
        key: Parameters on whose values the best one depends.
        pre_hook: Triton's; an error, as is the next. Its others are without effect: each configuration is
            measured in a run of its own.
        post_hook: Triton's.

    Raises:
        UsageError: There are none, or one is not a ``triton.Config``.
    """
    _no_hook("autotune", "pre_hook", pre_hook)
    _no_hook("autotune", "post_hook", post_hook)
    listed = list(configs)
    wrong = next((one for one in listed if not isinstance(one, Config)), None)
    if wrong is not None or not listed:
        raise UsageError(f"triton.autotune: configs={shown(configs)}; give a list of triton.Config({{...}})")

    def decorated(kernel: JITFunction) -> JITFunction:
        kernel.tuned = Autotuned(kernel.fn, [one.all_kwargs() for one in listed], key, options=OPTIONS)
        return kernel

    return decorated


def heuristics(values: Mapping[str, Callable[[dict[str, Any]], Any]]) -> Callable[[JITFunction], Any]:
    """Work values of parameters out from the arguments of each launch."""

    def decorated(kernel: JITFunction) -> JITFunction:
        kernel.heuristics = {**values, **kernel.heuristics}
        return kernel

    return decorated
