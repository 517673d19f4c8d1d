"""Messages refuse what ADR-0012 refuses, when they are made."""

from __future__ import annotations

import pytest

from kernbench.errors import UsageError
from kernbench.runtime.devices import Accelerator, Ahbm, parse_device
from kernbench.runtime.messages import (
    Completion,
    Envelope,
    KernelLaunch,
    MapEntry,
    MapRequest,
    MemoryRead,
    ShardRef,
    TensorArgRef,
)

ENVELOPE = Envelope("run", "r0", "sip:0")


def test_launch_targets_are_the_pes_that_hold_a_shard_of_any_argument():
    a = TensorArgRef("a", (ShardRef(0, 1, 2, 0, 16), ShardRef(0, 0, 3, 0, 16)), 4096)
    b = TensorArgRef("b", (ShardRef(1, 0, 0, 0, 16), ShardRef(0, 1, 2, 64, 16)), 8192)
    launch = KernelLaunch(ENVELOPE, "k", (a, b), {"m": 3})
    assert launch.targets == ((0, 0, 3), (0, 1, 2), (1, 0, 0))


@pytest.mark.parametrize("field", ["sip", "cube", "pe"])
@pytest.mark.parametrize("tag", [None, -1, "0", True])
def test_a_shard_without_its_tag_is_refused(field, tag):
    fields = {"sip": 0, "cube": 0, "pe": 0, "pa": 0, "nbytes": 4} | {field: tag}
    with pytest.raises(UsageError, match=field):
        ShardRef(**fields)


def test_an_untagged_argument_is_refused():
    with pytest.raises(UsageError, match=r"no \(sip, cube, pe\) tag"):
        TensorArgRef("a", ((0x1000, 64),), None)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="no shard"):
        TensorArgRef("a", (), None)


def test_a_launch_without_tensors_is_refused():
    with pytest.raises(UsageError, match="'k': no tensor argument"):
        KernelLaunch(ENVELOPE, "k", (), {"m": 1})


@pytest.mark.parametrize("fields", [("", "r", "d"), ("c", "", "d"), ("c", "r", None)])
def test_an_envelope_is_complete(fields):
    with pytest.raises(UsageError):
        Envelope(*fields)


def test_a_read_stays_on_one_sip_and_reads_something():
    with pytest.raises(UsageError, match="more than one SIP"):
        MemoryRead(ENVELOPE, (ShardRef(0, 0, 0, 0, 4), ShardRef(1, 0, 0, 0, 4)))
    with pytest.raises(UsageError, match="no shard"):
        MemoryRead(ENVELOPE, ())


def test_a_map_request_names_pes_and_entries():
    with pytest.raises(UsageError):
        MapRequest(ENVELOPE, 0, (), (MapEntry(0, 0, 1),))
    with pytest.raises(UsageError):
        MapEntry(0, 0, 0)


def test_a_completion_has_an_error_exactly_when_it_failed():
    assert Completion(ok=True).error_code is None
    with pytest.raises(UsageError):
        Completion(ok=True, error_code="X")
    with pytest.raises(UsageError):
        Completion(ok=False)


def test_devices():
    assert parse_device("all", 3) == (0, 1, 2)
    assert parse_device("sip:2", 3) == (2,)
    for wrong in ("sip:3", "sip", "sip:-1", "SIP:0", "", "gpu:0"):
        with pytest.raises(UsageError, match="all, sip:0, sip:1, sip:2"):
            parse_device(wrong, 3)


def test_current_device_is_shared_by_both_names():
    ahbm = Ahbm((0, 1))
    accelerator = Accelerator(ahbm)
    assert ahbm.current_device() is None
    assert ahbm.sips == (0, 1)
    accelerator.set_device_index(1)
    assert (ahbm.current_device(), accelerator.current_device_index(), ahbm.sips) == (1, 1, (1,))
    with pytest.raises(UsageError, match="use one of 0, 1"):
        ahbm.set_device(2)
    ahbm.set_device(None)
    assert ahbm.sips == (0, 1)
