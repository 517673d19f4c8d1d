"""Kernels with configurations to choose from: ``@autotune``, and the choice that each launch of a run makes.

A configuration gives values to some of the kernel's parameters, such as block sizes. A launch leaves these
out. It takes, in this order, what the run sets for the kernel (``scale.BLOCK=64``), the best configuration
that this process has measured for the launch's key, or the first one.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kernbench.errors import UsageError
from kernbench.language.binding import name_of
from kernbench.support import dtypes
from kernbench.support.hints import did_you_mean, shown

Config = dict[str, Any]
Key = tuple[tuple[str, str], ...]
"""Names and values of the key of a launch, as text."""


class Autotuned:
    """A kernel with configurations; made by :func:`autotune`, launched like the kernel itself.

    ``best`` has the best configuration for each key that was measured in this process.
    """

    def __init__(
        self,
        fn: Callable[..., Any],
        configs: Sequence[Config],
        key: Sequence[str],
        options: Sequence[str] = (),
    ) -> None:
        functools.update_wrapper(self, fn)
        self.name = name_of(fn)
        self.fn = fn
        self.configs = list(configs)
        self.key = tuple(key)
        self.best: dict[Key, Config] = {}
        self._signature = inspect.signature(fn)
        _check(
            self.name,
            self.configs,
            self.key,
            [*(p for p in self._signature.parameters if p != "tl"), *options],
        )

    def __call__(self, *args: object, **kwargs: object) -> Any:
        """Call the kernel itself, as another kernel may; nothing is chosen."""
        return self.fn(*args, **kwargs)

    def __repr__(self) -> str:
        return f"<autotuned kernel '{self.name}', {len(self.configs)} configurations>"

    def key_of(self, args: Sequence[object], kwargs: Mapping[str, object]) -> Key:
        """The key of a launch with these arguments: of an array shape and type, else the value."""
        if not self.key:
            return ()
        names = [name for name in self._signature.parameters if name != "tl"]
        given = {**dict(zip(names, args, strict=False)), **kwargs}
        defaults = {name: p.default for name, p in self._signature.parameters.items()}
        return tuple((name, _text(given.get(name, defaults[name]))) for name in self.key)

    def config_for(self, key: Key) -> Config:
        """The best configuration measured in this process for a key, else the first."""
        return self.best.get(key, self.configs[0])


Choose = Callable[[Autotuned, Sequence[Any], Mapping[str, Any]], Mapping[str, Any]]
"""From a kernel with configurations and the arguments of a launch to values for what it leaves out."""


def chosen(
    kernel: Callable[..., Any], args: Sequence[Any], given: Mapping[str, Any], choose: Choose | None = None
) -> tuple[Callable[..., Any], dict[str, Any]]:
    """What a launch of ``kernel`` runs, and the arguments that it gets by name.

    ``choose`` gives the values of a configuration; by default the best that is known, else the first.
    """
    how = choose or (lambda tuned, args, given: tuned.config_for(tuned.key_of(args, given)))
    if isinstance(kernel, Autotuned):
        return kernel.fn, {**how(kernel, args, given), **given}
    on_grid = getattr(kernel, "prepared", None)  # a kernel of Triton, with its grid
    return (kernel, dict(given)) if on_grid is None else on_grid(args, given, how)


def autotune(
    configs: Iterable[Mapping[str, Any]], key: Sequence[str] = ()
) -> Callable[[Callable[..., Any]], Autotuned]:
    """Give a kernel configurations to choose from; ``kernbench tune`` and ``run_kernel`` find the best.

    Args:
        configs: Values for parameters of the kernel, such as ``[{"BLOCK": 64}, {"BLOCK": 128}]``; each gives
            values to the same parameters. The first is used where nothing was measured.
        key: Parameters on which the best configuration depends: there is one for each combination of their
            values (of an array: shape and type).

    Raises:
        UsageError: no configurations, ones that differ in their parameters, or a parameter that the kernel
            does not have.
    """
    if callable(configs) or isinstance(configs, Mapping | str):
        raise UsageError('autotune: write @kb.autotune(configs=[{"BLOCK": 64}, {"BLOCK": 128}], key=["n"])')
    if isinstance(key, str):
        raise UsageError(f"autotune: argument 'key': write a list, [{key!r}]")
    listed = list(configs)
    for config in listed:
        if not isinstance(config, Mapping):
            raise UsageError(
                f"autotune: argument 'configs': {shown(config)} is not a dict of parameters such as "
                '{"BLOCK": 64}; a PE has no warps and stages to choose'
            )

    def decorate(fn: Callable[..., Any]) -> Autotuned:
        return Autotuned(fn, [dict(config) for config in listed], key)

    return decorate


@dataclass(frozen=True, slots=True)
class Choice:
    """The configuration that one launch took. ``launch`` counts the launches of the run from 0.

    ``first_of`` is how many there are where it is the first for want of a better one, else 0.
    """

    launch: int
    kernel: Autotuned
    key: Key
    config: Config
    first_of: int = 0

    @property
    def settings(self) -> dict[str, Any]:
        """The choice as settings of a run, such as ``{"scale[n=100].BLOCK": 64}``."""
        return settings(self.kernel.name, self.key, self.config)


def settings(kernel: str, key: Key, config: Config) -> dict[str, Any]:
    """The configuration of a kernel for one key as settings of a run."""
    at = f"[{shown_key(key)}]" if key else ""
    return {f"{kernel}{at}.{name}": value for name, value in config.items()}


class Choices:
    """The choices of one run, made as it launches kernels.

    Args:
        given: Settings by ``kernel.parameter``, or ``kernel[n=100].parameter`` for one key.
        tuning: The run is one of those that look for the best: it takes nothing that was measured before, and
            need not launch every kernel that has a setting.
        remember: Where no setting is given, take the best that was measured in this process, else the first.
    """

    def __init__(
        self, given: Mapping[str, object] | None = None, *, tuning: bool = False, remember: bool = True
    ) -> None:
        self._tuning = tuning
        self._remember = remember and not tuning
        self.made: list[Choice] = []
        self._given = dict(given or {})
        self._used: set[str] = set()

    def choose(
        self, kernel: Autotuned, launch: int, args: Sequence[object], kwargs: Mapping[str, object]
    ) -> Config:
        """The configuration of a launch, less what ``kwargs`` gives itself."""
        for other in self.made:
            if other.kernel.name == kernel.name and other.kernel is not kernel:
                raise UsageError(f"two kernels with configurations are called '{kernel.name}'; rename one")
        key = kernel.key_of(args, kwargs)
        wanted = {**self._settings(kernel, ()), **(self._settings(kernel, key) if key else {})}
        if wanted:
            chosen = _matching(kernel, wanted)
        else:
            chosen = kernel.config_for(key) if self._remember else kernel.configs[0]
        config = {name: value for name, value in chosen.items() if name not in kwargs}
        unsought = not wanted and len(kernel.configs) > 1 and not (self._remember and key in kernel.best)
        first_of = len(kernel.configs) if unsought else 0
        self.made.append(Choice(launch, kernel, key, config, first_of))
        return config

    def _settings(self, kernel: Autotuned, key: Key) -> Config:
        """The values given for this kernel and key."""
        names = settings(kernel.name, key, kernel.configs[0])
        found = {}
        for setting, parameter in zip(names, kernel.configs[0], strict=True):
            if setting in self._given:
                self._used.add(setting)
                found[parameter] = self._given[setting]
        return found

    def check_used(self) -> None:
        """``UsageError`` for a setting that no launch of the run could use."""
        unused = next((name for name in self._given if name not in self._used), None)
        if unused is None or self._tuning:
            return
        known = sorted({name for choice in self.made for name in _names(choice)})
        if not known:
            raise UsageError(
                f"parameter '{unused}': the bench launches no kernel with configurations; decorate it with "
                "@kb.autotune"
            )
        raise UsageError(
            f"parameter '{unused}' belongs to no kernel of the run; {did_you_mean(unused, known)}"
        )

    @property
    def settings(self) -> dict[str, Any]:
        """All that was chosen, as settings of a run; without the key where one configuration served all."""
        found: dict[str, Any] = {}
        for kernel in {id(choice.kernel): choice.kernel for choice in self.made}.values():
            own = [choice for choice in self.made if choice.kernel is kernel]
            same = all(choice.config == own[0].config for choice in own)
            for choice in own:
                found |= settings(kernel.name, () if same else choice.key, choice.config)
        return found


def _names(choice: Choice) -> list[str]:
    return [name for key in ((), choice.key) for name in settings(choice.kernel.name, key, choice.config)]


def _matching(kernel: Autotuned, wanted: Config) -> Config:
    """The first configuration of the kernel with the wanted values, which may be given as text."""
    for config in kernel.configs:
        if all(value == config[name] or str(value) == _text(config[name]) for name, value in wanted.items()):
            return config
    shown = ", ".join(f"{name}={_text(value)}" for name, value in wanted.items())
    raise UsageError(
        f"kernel '{kernel.name}' has no configuration with {shown}; it has "
        f"{'; '.join(map(shown_config, kernel.configs))}"
    )


def shown_key(key: Key) -> str:
    """``n=100, dtype=f16``."""
    return ", ".join(f"{name}={value}" for name, value in key)


def shown_config(config: Config) -> str:
    """``BLOCK=64 STAGES=2``."""
    return " ".join(f"{name}={_text(value)}" for name, value in config.items())


def _text(value: object) -> str:
    """A value in a key: shape and type of an array, else the value itself."""
    shape, dtype = getattr(value, "shape", None), getattr(value, "dtype", None)
    if shape is not None and dtype is not None and len(shape):
        kind = dtypes.of_numpy(dtype).name if isinstance(dtype, np.dtype) else dtype
        return f"{kind}{list(shape)}"
    return str(value)


def _check(name: str, configs: Sequence[Config], key: Sequence[str], parameters: Sequence[str]) -> None:
    if not configs:
        raise UsageError(f"autotune of kernel '{name}': argument 'configs' is empty")
    for config in configs:
        if config.keys() != configs[0].keys():
            raise UsageError(
                f"autotune of kernel '{name}': {shown_config(config)} and {shown_config(configs[0])} give "
                "values to different parameters; let each give values to the same ones"
            )
    if not configs[0]:
        raise UsageError(f"autotune of kernel '{name}': a configuration gives no values")
    for argument, given in (("configs", configs[0]), ("key", key)):
        for parameter in given:
            if parameter not in parameters:
                raise UsageError(
                    f"autotune of kernel '{name}': argument '{argument}': the kernel has no parameter "
                    f"'{parameter}'; {did_you_mean(parameter, parameters)}"
                )
    both = [parameter for parameter in key if parameter in configs[0]]
    if both:
        raise UsageError(f"autotune of kernel '{name}': '{both[0]}' is in the key and in the configurations")
