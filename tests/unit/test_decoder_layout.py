"""How a decoder lies on a machine: every key and column is somewhere, once, and is found again."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from kernbench.workloads.models.attention import heads_of, kept
from kernbench.workloads.models.layout import Keys, Strips, blocks, split_columns, strip_width
from kernbench.workloads.models.rotary import rotated_array

small = st.integers(1, 12)


@given(small, st.integers(1, 40), st.integers(1, 24))
def test_every_key_lies_on_one_pe(units, keys, workers):
    cache = Keys(units, keys, workers)
    rows = cache.rows()
    assert len(rows) == workers * cache.units_each * cache.chunk
    assert sorted(rows[rows >= 0]) == list(range(units * keys))


@given(small, st.integers(1, 40), st.integers(1, 24))
def test_the_kernels_find_the_keys_where_they_lie(units, keys, workers):
    """The addresses that ``attend`` works out: unit, part and first key of each slot of a PE."""
    cache = Keys(units, keys, workers)
    rows = cache.rows().reshape(workers, cache.units_each, cache.chunk)
    for pe in range(workers):
        for slot in range(cache.units_each):
            unit, part = divmod(pe * cache.units_each + slot, cache.parts)
            if unit < units:
                first = part * cache.chunk
                own = np.arange(first, min(keys, first + cache.chunk)) + unit * keys
                assert list(rows[pe, slot, : len(own)]) == list(own)


@given(st.integers(1, 500), small, st.integers(1, 64))
def test_columns_of_a_pe_are_enough_and_fit_a_head(columns, pes, within):
    of = split_columns(columns, pes, within)
    assert of.count <= pes
    assert (of.count - 1) * of.width < columns <= of.count * of.width
    assert within % of.width == 0 or of.width % within == 0


@given(small, small, small)
def test_blocks_are_those_of_the_pes(rows, width, workers):
    x = np.arange(rows * width * workers).reshape(rows, -1) + 1
    laid = blocks(x, width, workers).reshape(workers, rows, width)
    for pe in range(workers):
        assert (laid[pe] == x[:, pe * width : (pe + 1) * width]).all()


@given(st.integers(1, 60), st.integers(1, 6), st.integers(1, 4), st.integers(1, 4), st.integers(1, 4))
def test_strips_hold_each_token_and_weight_where_the_kernels_look(tokens, count, cubes, pes, width):
    strips = Strips.of_tokens(tokens, count * width, width, cubes, pes)
    x = np.random.default_rng(0).random((tokens, strips.columns)).astype(np.float16)
    laid = strips.laid(x)
    assert len(laid) % (cubes * pes) == 0
    assert strips.groups * strips.parts == pes
    assert sum(strips.filled(g) for g in range(strips.groups)) == tokens
    flat = laid.reshape(-1)
    for token in range(tokens):
        group, row = divmod(token, strips.rows)
        for strip in range(count):
            at = strips.at(group, strip, row) // 2
            assert (flat[at : at + width] == x[token, strip * width : (strip + 1) * width]).all()
    w = np.random.default_rng(1).random((5, strips.columns)).astype(np.float16)
    packed = strips.packed(w, cubes)
    assert len(packed) % (cubes * pes) == 0
    for group in range(strips.groups):
        of = [strips.of(c, cubes, p) for c in range(cubes) for p in range(pes) if strips.group_of(p) == group]
        assert sorted(s for own in of for s in own) == list(range(count))
    for cube, pe in ((c, p) for c in range(cubes) for p in range(pes)):
        for strip in strips.of(cube, cubes, pe):
            assert strips.weights_at(strip, 5, cubes) // (width * 2) // (len(packed) // cubes) == cube
    for strip in range(count):
        at = strips.weights_at(strip, 5, cubes) // 2
        own = packed.reshape(-1)[at : at + 5 * width].reshape(5, width)
        assert (own == w[:, strip * width : (strip + 1) * width]).all()


@given(st.integers(1, 12), st.integers(1, 4), small, st.integers(1, 8))
def test_each_head_is_computed_by_as_many_cubes(kv_heads, group, cubes, pes):
    """Where there are more cubes than heads, by several cubes; what each then computes is its PEs' affair."""
    heads = kv_heads * group
    of = [heads_of(cube, cubes, heads) for cube in range(cubes)]
    shared = max(1, cubes // heads)
    for head in range(heads):
        (first, *others) = [cube for cube, own in enumerate(of) if head in own]
        assert [first, *others] == list(range(first, first + shared))
        assert first % shared == 0
    copies = kept(heads, kv_heads, cubes)
    assert all(own[-1] // group - own[0] // group < copies for own in of if own)


def test_rotary_embedding_is_a_turn_by_the_distance():
    """Products of two turned vectors depend on how far they are apart alone; position 0 turns nothing."""
    q, k = np.random.default_rng(0).random((2, 1, 8))
    at = lambda x, position: rotated_array(x, np.array([position]), 100.0)[0]  # noqa: E731
    assert np.allclose(at(q, 0), q[0])
    assert np.isclose(at(q, 7) @ at(k, 3), at(q, 14) @ at(k, 10))
    assert not np.isclose(at(q, 7) @ at(k, 3), at(q, 7) @ at(k, 4))
    first = np.array([1.0, *[0.0] * 7])
    assert np.allclose(at(first, 1)[[0, 4]], [np.cos(1), np.sin(1)])


@given(st.integers(1, 64), st.integers(1, 16), st.integers(1, 8), st.sampled_from((32, 64, 96, 128)))
def test_a_strip_divides_its_columns(heads, cubes, pes, head_dim):
    width = strip_width(heads * head_dim, cubes, pes, head_dim)
    assert head_dim % width == 0
    assert width >= 32
