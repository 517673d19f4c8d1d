"""Messages refuse what ADR-0012 refuses, when they are made."""

from __future__ import annotations

from dataclasses import replace

import pytest

import kernbench as kb
from kernbench.errors import AddressError, LaunchError, UsageError
from kernbench.runtime.devices import parse_device
from kernbench.runtime.messages import (
    Completion,
    Envelope,
    KernelLaunch,
    KernelRef,
    MapEntry,
    MapRequest,
    MemoryRead,
    MemoryWrite,
    Pattern,
    ShardRef,
    TensorArgRef,
)
from kernbench.sim.instrument import Instrument
from tests.small_contexts import make

ENVELOPE = Envelope("run", "r0", "sip:0")


def test_launch_targets_are_the_pes_that_hold_a_shard_of_any_argument():
    a = TensorArgRef("a", (ShardRef(0, 1, 2, 0, 16), ShardRef(0, 0, 3, 0, 16)), 4096)
    b = TensorArgRef("b", (ShardRef(1, 0, 0, 0, 16), ShardRef(0, 1, 2, 64, 16)), 8192)
    launch = KernelLaunch(ENVELOPE, KernelRef("k"), (a, b), {"m": 3})
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
        KernelLaunch(ENVELOPE, KernelRef("k"), (), {"m": 1})


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
    torch = make()
    ahbm, accelerator = torch.ahbm, torch.accelerator
    assert ahbm.current_device() is None
    assert ahbm.sips == (0, 1)
    accelerator.set_device_index(1)
    assert (ahbm.current_device(), accelerator.current_device_index(), ahbm.sips) == (1, 1, (1,))
    with pytest.raises(UsageError, match="use one of 0, 1"):
        ahbm.set_device(2)
    ahbm.set_device(None)
    assert ahbm.sips == (0, 1)


SHARD = ShardRef(0, 0, 0, 0, 16)
TENSOR = TensorArgRef("a", (SHARD,), None)


@pytest.mark.parametrize(
    ("make_message", "problem"),
    [
        (lambda: MemoryWrite(ENVELOPE, None), "target None carries no"),
        (lambda: MemoryWrite(None, SHARD), "envelope is None"),
        (lambda: MemoryWrite(ENVELOPE, SHARD, "file"), "src_kind is 'file'"),
        (lambda: MemoryWrite(ENVELOPE, SHARD, "pattern"), "pattern is None"),
        (lambda: MemoryWrite(ENVELOPE, SHARD, pattern=Pattern("zero")), "pattern is Pattern"),
        (lambda: MemoryWrite(ENVELOPE, SHARD, dst_mem_kind="DISK"), "dst_mem_kind is 'DISK'"),
        (lambda: MemoryWrite(ENVELOPE, SHARD, debug_label=3), "debug_label is 3"),
        (lambda: Pattern("fill_u8"), "value is None"),
        (lambda: Pattern("stripes", 1), "pattern_kind is 'stripes'"),
        (lambda: MemoryRead(ENVELOPE, ((0x1000, 64),)), "carries no \\(sip, cube, pe\\) tag"),
        (lambda: MemoryRead(ENVELOPE, (SHARD,), "printer"), "dst_kind is 'printer'"),
        (lambda: Envelope("c", "r", "d", 5), "timestamp_tag is 5"),
        (lambda: KernelRef(""), "no name"),
        (lambda: KernelRef("k", "jit"), "kind is 'jit'"),
        (lambda: KernelRef("k", "deployed"), "names where its code lies"),
        (lambda: KernelRef("k", "deployed", (SHARD,), 8), "16 bytes are deployed, its code has 8"),
        (lambda: KernelRef("k", nbytes_code=-1), "nbytes_code is -1"),
        (lambda: KernelLaunch(ENVELOPE, "k", (TENSOR,), {}), "pass a KernelRef"),
        (lambda: KernelLaunch(ENVELOPE, KernelRef("k"), (SHARD,), {}), "is no TensorArgRef"),
        (lambda: KernelLaunch(ENVELOPE, KernelRef("k"), (TENSOR,), {}, "retry"), "failure_policy is 'retry'"),
    ],
)
def test_a_wrong_field_is_refused_by_name(make_message, problem):
    with pytest.raises(UsageError, match=problem):
        make_message()


def test_a_tag_that_is_not_where_its_address_leads_is_refused_where_the_message_enters():
    torch = make()
    x = torch.zeros((64, 64), name="x")
    driver, shard = torch.storage.driver, x.reference.shards[0]
    for tag in ({"sip": 9, "cube": 9, "pe": 9}, {"pe": shard.pe + 1}, {"cube": shard.cube + 1}):
        with pytest.raises(UsageError, match=r"tagged \(.*\), but its address 0x[0-9a-f]+ is in 'sip0"):
            driver.read([replace(shard, **tag)])
    window = driver.machine.addresses.hbm_window(shard.sip, shard.cube, shard.pe)
    with pytest.raises(UsageError, match="leave 'sip0"):
        driver.read([replace(shard, nbytes=window.nbytes + 16)])
    with pytest.raises(AddressError):
        driver.read([replace(shard, pa=(1 << 51) - 16)])


def _kernel(x, tl):
    tl.store(x.local, tl.load(x.local))


def test_the_archive_says_to_which_message_a_transaction_belongs():
    kept = kb.run("gemm-single-pe", "minimal", store="memory:").transactions
    requests = dict(zip(kept["kind"], kept["request"], strict=True))
    assert requests["launch"] == requests["launch_done"] != ""
    assert (
        len({r for kind, r in zip(kept["kind"], kept["request"], strict=True) if kind == "host_write"}) == 2
    )
    assert requests["dma_read"] == ""  # it belongs to an operation of a kernel


def test_ids_and_completion_come_back_and_stand_with_every_transaction():
    torch = make()
    seen = []
    torch.storage.driver.machine.instruments += (Ends(seen),)
    x = torch.zeros((64, 64))
    handle = torch.launch("copy", _kernel, x)
    assert handle.response is None
    handle.wait()
    answer = handle.response
    assert (answer.correlation_id, answer.request_id) == handle.request.ids
    assert answer.completion == Completion(ok=True)
    of_launch = {t.kind for t in seen if t.ids == handle.request.ids}
    assert of_launch == {"launch", "launch_done"}
    assert {t.ids[0] for t in seen if t.kind in ("map", "host_write", "launch")} == {answer.correlation_id}

    def broken(x, tl):
        raise ValueError("by design")

    failed = torch.launch("broken", broken, x)
    with pytest.raises(LaunchError):
        failed.wait()
    assert failed.response.completion.error_code == "LAUNCH_FAILED"
    assert "by design" in failed.response.completion.error_message


def test_a_kernels_code_is_written_to_each_sip_once_and_takes_time_on_the_wires():
    torch = make()
    seen = []
    machine = torch.storage.driver.machine
    machine.instruments += (Ends(seen),)
    x = torch.zeros((64, 64))
    torch.launch("copy", _kernel, x).wait()
    assert not [t for t in seen if t.kind == "host_write" and t.nbytes == 5000]
    begun = machine.clock.now
    first = torch.launch("copy", _kernel, x, nbytes_code=5000)
    writes = [t for t in seen if t.kind == "host_write" and t.nbytes == 5000]
    sips = {shard.sip for shard in x.reference.shards}
    assert len(writes) == len(sips)
    assert first.request.t_submit == max(t.t_done for t in writes) > begun + 5000 / 128
    first.wait()
    torch.launch("copy", _kernel, x, nbytes_code=5000).wait()
    assert len([t for t in seen if t.kind == "host_write" and t.nbytes == 5000]) == len(sips)
    with pytest.raises(UsageError, match=r"nbytes_code is 0\.5"):
        torch.launch("copy", _kernel, x, nbytes_code=0.5)


class Ends(Instrument):
    def __init__(self, seen):
        self.seen = seen

    def transaction_done(self, transaction):
        self.seen.append(transaction)
