"""Softmax over keys that come a block at a time (Milakov and Gimelshein, 2018), and values under it."""

from __future__ import annotations

from typing import Any

MASKED = -1e30
"""Less than any score, and unlike -inf its differences are numbers."""


class Softmax:
    """Handles of a running attention: each row's highest score, its total weight, its weighted values."""

    def __init__(self, query: Any, tl: Any) -> None:
        rows, self.d = query.shape
        self._query, self._tl = query, tl
        self.highest = tl.full((rows, 1), MASKED, tl.float32)
        self.total = tl.zeros((rows, 1), tl.float32)
        self.values = tl.zeros((rows, self.d), tl.float32)

    def scores(self, key: Any) -> Any:
        """Of the rows with a block of keys, (rows, keys)."""
        tl = self._tl
        return tl.dot(self._query, tl.trans(key), out_dtype=tl.float32) * self.d**-0.5

    def take(self, scores: Any, value: Any) -> None:
        """Go on with a block: its scores, and its values (keys, d)."""
        tl = self._tl
        higher = tl.maximum(self.highest, tl.max(scores, axis=1))
        weights = tl.exp(scores - higher)
        shrink = tl.exp(self.highest - higher)
        self.total = self.total * shrink + tl.sum(weights, axis=1)
        self.values = self.values * shrink + tl.dot(weights.to(value.dtype), value, out_dtype=tl.float32)
        self.highest = higher
