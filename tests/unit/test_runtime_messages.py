"""Requests to a device: what is refused before they are sent, their ids, how they end (ADR-0012)."""

from __future__ import annotations

import pytest

import kernbench as kb
from kernbench.engine.core.instrument import Instrument
from kernbench.errors import AddressError, LaunchError, UsageError
from kernbench.host.devices import parse_device
from kernbench.host.driver import shard_ref
from tests.small_contexts import make


def test_a_launch_runs_on_the_pes_that_hold_a_shard_of_its_arguments():
    torch = make()
    x = torch.zeros((64, 64))
    handle = torch.launch("copy", _kernel, x)
    assert handle.targets == tuple(sorted({shard.place for shard in x.allocation.shards}))
    handle.wait()


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"name": ""}, "the first argument is the launch's name"),
        ({"tensors": ()}, "'copy': no tensor argument, so no PE to run on"),
        ({"failure_policy": "retry"}, "failure_policy is 'retry'; it must be one of 'fail_fast', 'run_on'"),
        ({"nbytes_code": -1}, "nbytes_code is -1"),
        ({"nbytes_code": 0.5}, r"nbytes_code is 0\.5"),
        ({"nbytes_code": True}, "nbytes_code is True"),
    ],
)
def test_a_wrong_launch_is_refused_before_anything_is_sent(change, problem):
    torch = make()
    given = {"name": "copy", "tensors": (torch.zeros((64, 64)),)} | change
    name, tensors = given.pop("name"), given.pop("tensors")
    sent = torch.storage.driver.submitted
    with pytest.raises(UsageError, match=problem):
        torch.launch(name, _kernel, *tensors, **given)
    assert torch.storage.driver.submitted == sent


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


def test_a_tag_that_is_not_where_its_address_leads_is_refused_where_the_message_enters():
    torch = make()
    x = torch.zeros((64, 64), name="x")
    driver, shard = torch.storage.driver, shard_ref(x.allocation.shards[0])
    for tag in ({"sip": 9, "cube": 9, "pe": 9}, {"pe": shard.pe + 1}, {"cube": shard.cube + 1}):
        with pytest.raises(UsageError, match=r"tagged \(.*\), but its address 0x[0-9a-f]+ is in 'sip0"):
            driver.read([shard._replace(**tag)])
    window = driver.machine.addresses.hbm_window(shard.sip, shard.cube, shard.pe)
    with pytest.raises(UsageError, match="leave 'sip0"):
        driver.read([shard._replace(nbytes=window.nbytes + 16)])
    with pytest.raises(AddressError):
        driver.read([shard._replace(pa=(1 << 51) - 16)])


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
    assert not handle.request.done
    handle.wait()
    assert (handle.request.done, handle.request.error) == (True, None)
    of_launch = {t.kind for t in seen if t.ids == handle.request.ids}
    assert of_launch == {"launch", "launch_done"}
    assert {t.ids[0] for t in seen if t.kind in ("map", "host_write", "launch")} == {handle.request.ids[0]}

    def broken(x, tl):
        raise ValueError("by design")

    failed = torch.launch("broken", broken, x)
    with pytest.raises(LaunchError):
        failed.wait()
    assert isinstance(failed.request.error, LaunchError)
    assert "by design" in str(failed.request.error)


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
    sips = {shard.sip for shard in x.allocation.shards}
    assert len(writes) == len(sips)
    assert first.request.t_submit == max(t.t_done for t in writes) > begun + 5000 / 128
    first.wait()
    torch.launch("copy", _kernel, x, nbytes_code=5000).wait()
    assert len([t for t in seen if t.kind == "host_write" and t.nbytes == 5000]) == len(sips)


class Ends(Instrument):
    def __init__(self, seen):
        self.seen = seen

    def transaction_done(self, transaction):
        self.seen.append(transaction)
