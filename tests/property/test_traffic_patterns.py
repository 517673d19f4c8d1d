"""Patterns on any number of ranks: permutations are permutations, draws depend on the seed alone."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernbench import load_topology
from kernbench.errors import UsageError
from kernbench.workloads.probes.traffic_patterns import (
    find_pattern,
    pattern_flows,
    patterns,
    ranks,
    resolve_values,
)

PERMUTATIONS = ("transpose", "bit-complement", "tornado", "neighbour", "all-local")
RANDOM = ("uniform-random", "hot-spot")
SIZES = st.integers(1, 300)
POWERS = [1 << k for k in range(12)]


def partners(name: str, n: int, **values: object) -> list[tuple[int, int]]:
    pattern = find_pattern(name)
    return list(pattern.pairs(n, resolve_values(pattern, values)))


@pytest.mark.parametrize("name", PERMUTATIONS)
@given(n=SIZES)
def test_a_permutation_uses_every_rank_once_on_each_side(name: str, n: int) -> None:
    pairs = partners(name, n)
    assert [s for s, _ in pairs] == list(range(n))
    assert sorted(d for _, d in pairs) == list(range(n))


@pytest.mark.parametrize("name", [p.name for p in patterns()])
@given(n=SIZES)
def test_every_pattern_has_one_flow_a_rank_and_stays_inside(name: str, n: int) -> None:
    pairs = partners(name, n)
    assert len(pairs) == n
    assert all(0 <= s < n and 0 <= d < n for s, d in pairs)


@pytest.mark.parametrize("bits", range(0, 12, 2))
def test_transpose_exchanges_halves_of_the_bits(bits: int) -> None:
    half = bits // 2
    for s, d in partners("transpose", 1 << bits):
        assert d == (s >> half) | (s & ((1 << half) - 1)) << half


@given(rows=st.integers(1, 20), cols=st.integers(1, 20))
def test_transpose_is_that_of_a_matrix(rows: int, cols: int) -> None:
    n = rows * cols
    r = max(k for k in range(1, n + 1) if n % k == 0 and k * k <= n)
    c = n // r
    places = {(s // c, s % c): d for s, d in partners("transpose", n)}
    assert all(d == j * r + i for (i, j), d in places.items())


@pytest.mark.parametrize("n", POWERS)
def test_bit_complement_inverts_all_bits(n: int) -> None:
    assert all(d == s ^ (n - 1) for s, d in partners("bit-complement", n))


@given(n=SIZES)
def test_tornado_and_neighbour_go_round(n: int) -> None:
    assert all((d - s) % n == (-(-n // 2) - 1) % n for s, d in partners("tornado", n))
    assert all((d - s) % n == 1 % n for s, d in partners("neighbour", n))


@given(n=SIZES, root=st.integers(0, 299))
def test_gather_and_scatter_meet_at_the_root(n: int, root: int) -> None:
    if root >= n:
        with pytest.raises(UsageError, match=f"no PE has rank {root}"):
            partners("gather", n, root=root)
        return
    assert partners("gather", n, root=root) == [(s, root) for s in range(n)]
    assert partners("scatter", n, root=root) == [(root, d) for d in range(n)]


@pytest.mark.parametrize("name", RANDOM)
@given(n=SIZES, seed=st.integers(0, 2**32))
def test_a_seed_always_draws_the_same(name: str, n: int, seed: int) -> None:
    assert partners(name, n, seed=seed) == partners(name, n, seed=str(seed))


def test_draws_are_these_in_every_process_and_differ_between_seeds() -> None:
    assert [d for _, d in partners("uniform-random", 256, seed=1)[:8]] == [
        68,
        32,
        130,
        60,
        253,
        230,
        241,
        194,
    ]
    assert partners("uniform-random", 256, seed=1) != partners("uniform-random", 256, seed=2)


def test_uniform_random_is_even() -> None:
    drawn = [d for seed in range(200) for _, d in partners("uniform-random", 16, seed=seed)]
    counts = [drawn.count(d) for d in range(16)]
    # 200 expected each; chi-square with 15 degrees of freedom stays below 37.7 with probability 0.999
    assert sum((c - 200) ** 2 / 200 for c in counts) < 37.7


@given(n=SIZES, seed=st.integers(0, 99))
def test_hot_spots_share_of_nothing_and_everything(n: int, seed: int) -> None:
    root = n // 2
    assert partners("hot-spot", n, seed=seed, share=1, root=root) == partners("gather", n, root=root)
    some = partners("hot-spot", n, seed=seed, share=0.5, root=root)
    none = partners("hot-spot", n, seed=seed, share=0, root=root)
    assert all(a == b or a[1] == root for a, b in zip(some, none, strict=True))


def test_a_quarter_of_the_ranks_turn_to_the_hot_spot() -> None:
    turned = [sum(d == 7 for _, d in partners("hot-spot", 256, seed=s, root=7)) for s in range(50)]
    assert 60 < sum(turned) / 50 < 70  # 64 and a 256th of the others


@pytest.mark.parametrize(
    ("given_", "message"),
    [
        ({"bytes": 0}, "parameter 'bytes': 0 is below the minimum of 1"),
        ({"bytes": "4k"}, "parameter 'bytes': '4k' is not a whole number"),
        ({"op": "copy"}, "parameter 'op': 'copy' is not one of write, read"),
        ({"byte": 4}, "no parameter 'byte'; did you mean 'bytes'?"),
        ({"share": 1.5}, "parameter 'share': 1.5 is above the maximum of 1"),
        ({"share": "nan"}, "parameter 'share': nan is not a finite number"),
    ],
)
def test_wrong_parameters_are_named(given_: dict[str, object], message: str) -> None:
    pattern = find_pattern("hot-spot")
    with pytest.raises(UsageError, match="hot-spot") as wrong:
        list(pattern.pairs(8, resolve_values(pattern, given_)))
    assert message in str(wrong.value)


def test_an_unknown_pattern_is_told_of_the_known_ones() -> None:
    with pytest.raises(UsageError, match=r"did you mean 'transpose'.*uniform-random, transpose"):
        find_pattern("transposed")


def test_flows_name_places_of_the_topology() -> None:
    graph = load_topology("default")
    pattern = find_pattern("gather")
    values = resolve_values(pattern, {"bytes": 1000, "root": 9, "op": "read", "offset": 64})
    flows = pattern_flows(graph, pattern, values)
    assert len(flows) == len(ranks(graph)) == 256
    assert {f.dst for f in flows} == {"sip0.cube1.hbm_ctrl.pe1"}
    assert (flows[130].src, flows[130].name, flows[130].op) == ("sip1.cube0.pe2", "130->9", "read")
    # Each rank has its own bytes of the one memory.
    assert [f.offset for f in flows] == [64 + 1000 * s for s in range(256)]
