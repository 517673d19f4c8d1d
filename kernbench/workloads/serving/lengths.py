"""How many tokens prompts and answers have: distributions, as they are written on a command line."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kernbench.errors import UsageError
from kernbench.support.hints import suggestion

_CALL = re.compile(r"\s*(?P<name>\w+)\s*\(\s*(?P<args>[^()]*)\)\s*")
_FORMS = {
    "fixed": ("fixed(n)", 1),
    "uniform": ("uniform(least,most)", 2),
    "lognormal": ("lognormal(mean,sigma)", 2),
}
LONGEST = 10_000_000
"""Tokens of a prompt or an answer."""


@dataclass(frozen=True, slots=True)
class Lengths:
    """A distribution of numbers of tokens, each at least 1.

    ``fixed(n)``; ``uniform(least,most)``, both ends included; ``lognormal(mean,sigma)``, whose mean is
    ``mean`` tokens and whose logarithm has the standard deviation ``sigma``, rounded to whole tokens.
    """

    name: str
    args: tuple[float, ...]

    @classmethod
    def read(cls, text: str, what: str) -> Lengths:
        """The distribution, or plain number, that ``text`` writes; errors call it ``what``.

        Raises:
            UsageError: The distribution is unknown, or its numbers are out of range.
        """
        plain = text.strip()
        match = _CALL.fullmatch(f"fixed({plain})" if plain.isdigit() else text)
        forms = ", ".join(form for form, _ in _FORMS.values())
        if match is None or match["name"] not in _FORMS:
            hint = suggestion(match["name"], _FORMS) if match else ""
            raise UsageError(
                f"{what}: '{text}' is not a distribution of tokens; {hint}write {forms} or a number"
            )
        name, (form, count) = match["name"], _FORMS[match["name"]]
        try:
            args = tuple(float(arg) for arg in match["args"].split(","))
        except ValueError:
            args = ()
        whole = args[:1] if name == "lognormal" else args
        fits = len(args) == count and all(1 <= arg <= LONGEST for arg in whole)
        if fits and name == "lognormal":
            fits = 0 <= args[1] <= 10
        else:
            fits = fits and all(arg.is_integer() for arg in whole) and list(args) == sorted(args)
        if not fits:
            bounds = "sigma from 0 to 10" if name == "lognormal" else "whole numbers"
            raise UsageError(f"{what}: '{text}' does not fit {form}: tokens from 1 to {LONGEST}, {bounds}")
        return cls(name, args)

    def draw(self, count: int, rng: np.random.Generator) -> NDArray[np.int64]:
        """``count`` lengths, in tokens."""
        if self.name == "fixed":
            return np.full(count, int(self.args[0]), np.int64)
        if self.name == "uniform":
            return rng.integers(int(self.args[0]), int(self.args[1]), count, np.int64, endpoint=True)
        mean, sigma = self.args
        drawn = rng.lognormal(math.log(mean) - sigma**2 / 2, sigma, count)
        return np.clip(np.rint(drawn), 1, LONGEST).astype(np.int64)

    def __str__(self) -> str:
        return f"{self.name}({','.join(f'{arg:g}' for arg in self.args)})"
