"""From the name of a policy to the policy."""

from __future__ import annotations

import importlib
import pkgutil
from pathlib import Path

from kernbench.engine.core.node import overrides
from kernbench.errors import ConfigError, UsageError
from kernbench.support.hints import suggestion
from kernbench.support.user_modules import load_class
from kernbench.workloads.serving.policy import Policy


def shipped() -> list[str]:
    """The policies that come with KernBench. Each is the only one in the file of its name in this folder."""
    names = (module.name for module in pkgutil.iter_modules([str(Path(__file__).parent)]))
    return sorted(name for name in names if name != "registry")


def policy_of(name: str) -> Policy:
    """The policy of that name, or of a class of a user's own, ``module:Class`` or ``file.py:Class``.

    Raises:
        UsageError: There is no such policy.
        ConfigError: The class does not import, or is not a policy.
    """
    if name in shipped():
        module = importlib.import_module(f"{__package__}.{name}")
        own = vars(module).values()
        return next(
            one() for one in own
            if isinstance(one, type) and issubclass(one, Policy) and one.__module__ == module.__name__
        )  # fmt: skip
    if ":" not in name:
        raise UsageError(
            f"policy '{name}' does not exist, {suggestion(name, shipped())}expected {', '.join(shipped())}, "
            "or a class of your own, 'file.py:Class'"
        )
    found = load_class(name, "policy", f"policy '{name}'", Policy)
    if not overrides(found, "rank", Policy):
        raise ConfigError(f"policy '{name}' lacks rank; define it")
    return found()
