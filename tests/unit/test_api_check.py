"""``--check`` of runs of traffic and of probes: a component that breaks a rule ends them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import kernbench as kb
from kernbench.engine.machine.machine import Machine
from kernbench.errors import InvariantError
from tests.conftest import ASKED, patches_the_engine
from tests.exact.test_invariants import lazy_channel
from tests.small_machines import minimal


@pytest.mark.skipif(ASKED is not None, reason="the caller has asked for KERNBENCH_CHECK")
def test_machines_are_checked_in_tests_marked_so_alone(request: pytest.FixtureRequest) -> None:
    assert Machine(minimal()).checker is None
    assert request.node.get_closest_marker("checked") is None


@pytest.mark.checked
def test_a_machine_of_a_test_that_is_marked_is_checked() -> None:
    assert Machine(minimal()).checker is not None


@pytest.fixture
def lazy_channels(monkeypatch: pytest.MonkeyPatch) -> None:
    """A pseudo-channel begins a nanosecond after it could; it goes unseen unless checks are on."""
    monkeypatch.delenv("KERNBENCH_CHECK", raising=False)
    lazy_channel(monkeypatch)


@patches_the_engine
@pytest.mark.usefixtures("lazy_channels")
def test_traffic_is_checked_where_asked() -> None:
    kb.traffic("pattern:all-local", "minimal", store="memory:")
    with pytest.raises(InvariantError, match=r"'work'.*hbm_ctrl\.pe0\.pc0.*; the run is not saved"):
        kb.traffic("pattern:all-local", "minimal", store="memory:", check=True)


@patches_the_engine
@pytest.mark.usefixtures("lazy_channels")
def test_probes_are_checked_where_asked() -> None:
    kb.probe("minimal", case="pe-local-hbm", sizes=[256])
    with pytest.raises(InvariantError, match=r"'work'.*hbm_ctrl\.pe0\.pc0"):
        kb.probe("minimal", case="pe-local-hbm", sizes=[256], check=True)


@patches_the_engine
@pytest.mark.usefixtures("lazy_channels")
@pytest.mark.parametrize(
    "command",
    [
        ["traffic", "pattern:all-local", "--topology", "minimal", "--no-trace"],
        ["probe", "--topology", "minimal", "--case", "pe-local-hbm", "--sizes", "256"],
    ],
    ids=["traffic", "probe"],
)
def test_the_option_ends_the_command_with_one_line(cli: Callable[..., Any], command: list[str]) -> None:
    assert cli(*command).status == 0
    checked = cli(*command, "--check")
    assert checked.status == 1
    assert checked.err.startswith("kernbench: error: invariant 'work'")
    assert checked.err.count("\n") == 1
