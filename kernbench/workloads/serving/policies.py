"""What a service does first: the policies that ``--policy`` names, and how a name becomes one."""

from __future__ import annotations

from collections.abc import Mapping

from kernbench.engine.core.node import overrides
from kernbench.errors import ConfigError, UsageError
from kernbench.support.hints import suggestion
from kernbench.support.user_modules import load_class
from kernbench.workloads.serving.policy import Policy
from kernbench.workloads.serving.request import Request


class FirstCome(Policy):
    """Serves requests in order of arrival; a step decodes all and fills up with prompts (the default).

    Long prompts are cut into chunks, so that decodes never pause (Sarathi-Serve, vLLM).
    """

    def rank(self, request: Request) -> float:
        """See :meth:`Policy.rank`."""
        return request.arrive_ns


class Shortest(Policy):
    """Serves the request with the shortest prompt first; a step is shared as by ``first_come``.

    Long prompts can starve.
    """

    def rank(self, request: Request) -> float:
        """See :meth:`Policy.rank`."""
        return request.prompt


class PrefillFirst(FirstCome):
    """Serves requests in order of arrival; while prompts are read, decodes pause.

    The shortest time to the first token, and the longest gaps between the others (Orca).
    """

    decodes_pause = True


class DecodeFirst(FirstCome):
    """Serves requests in order of arrival; prompts wait until no request decodes.

    A batch starts and ends together (FasterTransformer): the shortest time a token, and long queues.
    """

    def prompt_tokens(self, room: int, decoding: int) -> int:
        """See :meth:`Policy.prompt_tokens`."""
        return 0 if decoding else room


SHIPPED: Mapping[str, type[Policy]] = {
    "first_come": FirstCome,
    "shortest": Shortest,
    "prefill_first": PrefillFirst,
    "decode_first": DecodeFirst,
}
"""The policies that come with KernBench, by name."""


def policy_of(name: str) -> Policy:
    """The policy called ``name``, or one of a user's own class, ``module:Class`` or ``file.py:Class``.

    Raises:
        UsageError: No policy has that name.
        ConfigError: The class does not import, or is not a policy.
    """
    if name in SHIPPED:
        return SHIPPED[name]()
    if ":" not in name:
        raise UsageError(
            f"policy '{name}' does not exist, {suggestion(name, SHIPPED)}expected {', '.join(SHIPPED)}, "
            "or a class of your own, 'file.py:Class'"
        )
    found = load_class(name, "policy", f"policy '{name}'", Policy)
    if not overrides(found, "rank", Policy):
        raise ConfigError(f"policy '{name}' lacks rank; define it")
    return found()
