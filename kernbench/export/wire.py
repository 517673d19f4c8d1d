"""Protocol buffers by the column: one message a row, all rows of a table encoded at once.

A trace has millions of messages that differ in a few numbers, which the protobuf library makes one by one in
microseconds each. Here the numbers of a column become a block of bytes of one width, and a message is blocks
side by side. Varints are padded to the column's width, which every reader of the format accepts.
"""

from __future__ import annotations

import struct
from typing import Any

import numpy as np
from numpy.typing import NDArray

Block = NDArray[np.uint8]
"""Bytes by row: (rows, width)."""
Part = bytes | Block

_VARINT, _FIXED64, _BYTES = 0, 1, 2


def varint(value: int) -> bytes:
    """One unsigned number, as short as can be."""
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def tag(number: int, kind: int) -> bytes:
    """The head of field ``number``."""
    return varint(number << 3 | kind)


def field(number: int, value: int | float | str | bytes) -> bytes:
    """One field with one value: varint, double, or bytes with their length, by the value's type."""
    if isinstance(value, int):
        return tag(number, _VARINT) + varint(value)
    if isinstance(value, float):
        return tag(number, _FIXED64) + struct.pack("<d", value)
    data = value.encode() if isinstance(value, str) else value
    return tag(number, _BYTES) + varint(len(data)) + data


def varints(number: int, values: NDArray[Any]) -> Part:
    """A field of unsigned numbers, one a row, as wide as the largest."""
    top = int(values.max(initial=0))
    if top == int(values.min(initial=top)):
        return field(number, top)
    width = max(1, -(-top.bit_length() // 7))
    shifts = 7 * np.arange(width, dtype=np.uint64)
    block = (values.astype(np.uint64)[:, None] >> shifts & np.uint64(0x7F)).astype(np.uint8)
    block[:, :-1] |= 0x80
    return beside(len(values), tag(number, _VARINT), block)


def doubles(number: int, values: NDArray[Any]) -> Part:
    """A field of doubles, one a row."""
    return beside(len(values), tag(number, _FIXED64), _eight(values.astype("<f8")))


def fixed(number: int, values: NDArray[Any]) -> Part:
    """A field of unsigned numbers of 64 bits, one a row."""
    return beside(len(values), tag(number, _FIXED64), _eight(values.astype("<u8")))


def message(number: int, rows: int, *parts: Part) -> Part:
    """A field that is a message of these fields."""
    if all(isinstance(part, bytes) for part in parts):
        return field(number, b"".join(part for part in parts if isinstance(part, bytes)))
    inside = sum(width_of(part) for part in parts)
    return beside(rows, tag(number, _BYTES) + varint(inside), *parts)


def beside(rows: int, *parts: Part) -> Block:
    """Parts side by side; bytes are the same in every row."""
    made = np.empty((rows, sum(width_of(part) for part in parts)), np.uint8)
    at = 0
    for part in parts:
        wide = width_of(part)
        made[:, at : at + wide] = np.frombuffer(part, np.uint8) if isinstance(part, bytes) else part
        at += wide
    return made


def width_of(part: Part) -> int:
    """Bytes in a row of it."""
    return len(part) if isinstance(part, bytes) else int(part.shape[1])


def open_message(number: int, rows: int, inside: int, more: NDArray[np.int64]) -> Block:
    """The head of a message whose length differs by row: ``inside`` bytes and ``more``, by row."""
    lengths = (inside + more).astype(np.uint64)
    block = (lengths[:, None] >> (7 * np.arange(4, dtype=np.uint64)) & np.uint64(0x7F)).astype(np.uint8)
    block[:, :-1] |= 0x80
    return beside(rows, tag(number, _BYTES), block)


def splice(head: Block, between: Block, counts: NDArray[np.int64], tail: Block) -> bytes:
    """Per row: its ``head``, then the next ``counts`` rows of ``between``, then its ``tail``."""
    if not len(between):
        return np.hstack([head, tail]).tobytes()
    wide = between.shape[1]
    sizes = head.shape[1] + tail.shape[1] + wide * counts
    starts = np.cumsum(sizes) - sizes
    made = np.empty(int(sizes.sum()), np.uint8)
    made[starts[:, None] + np.arange(head.shape[1])] = head
    nth = np.arange(len(between)) - np.repeat(np.cumsum(counts) - counts, counts)
    middle = np.repeat(starts, counts) + head.shape[1] + wide * nth
    made[middle[:, None] + np.arange(wide)] = between
    made[(starts + sizes - tail.shape[1])[:, None] + np.arange(tail.shape[1])] = tail
    return made.tobytes()


def _eight(values: NDArray[Any]) -> Block:
    return np.ascontiguousarray(values).view(np.uint8).reshape(len(values), 8)
