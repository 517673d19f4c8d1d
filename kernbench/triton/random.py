"""Random numbers of Triton kernels: Philox 4x32, a generator without state, from seed and offset."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from kernbench.errors import KernelError
from kernbench.triton.calls import current
from kernbench.triton.values import data_of

Words = np.ndarray[Any, np.dtype[np.uint64]]
_LOW = np.uint64(0xFFFFFFFF)
_SHIFT = np.uint64(32)
_TO_UNIT = np.float32(4.6566127342e-10)
"""Of 31 bits to [0, 1), as Triton has it."""


def philox(seed: Any, offset: Any, rounds: int) -> list[np.ndarray[Any, np.dtype[np.uint32]]]:
    """The four words of each offset, by one seed or one each."""
    first = np.asarray(offset, np.int64).astype(np.uint64) & _LOW
    c: list[Words] = [first, *(np.zeros_like(first) for _ in range(3))]
    whole = np.asarray(seed, np.int64).astype(np.uint64)
    k0, k1 = whole & _LOW, whole >> _SHIFT
    for _ in range(rounds):
        a, b = c[0] * np.uint64(0xD2511F53), c[2] * np.uint64(0xCD9E8D57)
        c = [(b >> _SHIFT) ^ c[1] ^ k0, b & _LOW, (a >> _SHIFT) ^ c[3] ^ k1, a & _LOW]
        k0, k1 = (k0 + np.uint64(0x9E3779B9)) & _LOW, (k1 + np.uint64(0xBB67AE85)) & _LOW
    return [word.astype(np.uint32) for word in c]


def unit(word: np.ndarray[Any, np.dtype[np.uint32]]) -> np.ndarray[Any, np.dtype[np.float32]]:
    """Uniform numbers in [0, 1)."""
    signed = word.view(np.int32)
    return np.where(signed < 0, -signed - 1, signed).astype(np.float32) * _TO_UNIT


def normals(words: list[np.ndarray[Any, np.dtype[np.uint32]]]) -> list[np.ndarray[Any, Any]]:
    """Box and Muller's, of each pair of uniform numbers."""
    made = []
    for first in range(0, len(words), 2):
        one, two = np.maximum(np.float32(1e-7), unit(words[first])), unit(words[first + 1])
        size, turn = np.sqrt(np.float32(-2) * np.log(one)), np.float32(6.283185307179586) * two
        made += [np.asarray(size * wave(turn), np.float32) for wave in (np.cos, np.sin)]
    return made


def integers(words: list[np.ndarray[Any, np.dtype[np.uint32]]], low: int, high: int) -> np.ndarray[Any, Any]:
    """Integers from ``low`` up to below ``high``, as kernels of Inductor make them of two words each."""
    both = words[0].astype(np.uint64) | words[1].astype(np.uint64) << _SHIFT
    return (both % np.uint64(high - low)).astype(np.int64) + low


def randint64(seed: Any, offset: Any, low: Any, high: Any) -> Any:
    """A block of these, of the shape of ``offset``; no time passes."""
    return _of("randint64", "i64", lambda words: integers(words, int(low), int(high)), "")(seed, offset)


def _of(name: str, dtype: str, how: Callable[[Any], Any], meaning: str) -> Callable[..., Any]:
    four = name.endswith("4x")

    def call(seed: Any, offset: Any, n_rounds: int = 10) -> Any:
        known, at = data_of(seed), data_of(offset)
        if known is None or at is None:
            raise KernelError(f"tl.{name}: seed and offset must be known: integers, and blocks of tl.arange")
        values = how(philox(known, np.atleast_1d(at), int(n_rounds)))
        made = [current(name).constant(np.asarray(one), dtype) for one in (values if four else [values])]
        return tuple(made) if four else made[0]

    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"{meaning} A block of the shape of ``offset``; no time passes."
    return call


BY_NAME = {
    "rand": _of("rand", "f32", lambda words: unit(words[0]), "Uniform numbers in [0, 1)."),
    "randn": _of("randn", "f32", lambda words: normals(words[:2])[0], "Numbers of a normal distribution."),
    "randint": _of("randint", "u32", lambda words: words[0], "Integers of 32 bits without sign."),
    "rand4x": _of("rand4x", "f32", lambda words: [unit(one) for one in words], "Four uniform numbers each."),
    "randn4x": _of("randn4x", "f32", normals, "Four normal numbers each."),
    "randint4x": _of("randint4x", "u32", lambda words: words, "Four such integers each."),
}
"""The calls."""
