"""Whatever is asked of a service: all is done or refused, in order, within the cache."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from kernbench.workloads.serving.limits import Limits
from kernbench.workloads.serving.load import Load
from kernbench.workloads.serving.loop import serve
from kernbench.workloads.serving.policies import SHIPPED, policy_of


class Steps:
    def prefill_ns(self, tokens):
        return 3.0 + tokens

    def past_ns(self, before, tokens):
        return before * tokens / 99

    def decode_ns(self, batch, keys):
        return 5.0 + batch + keys / 64


requests = st.lists(
    st.tuples(st.integers(0, 300), st.integers(1, 60), st.integers(1, 40)), min_size=1, max_size=40
)
limits = st.builds(Limits, st.integers(1, 30), st.integers(1, 16), st.integers(1, 12), st.integers(1, 64))


@given(requests, limits, st.sampled_from(sorted(SHIPPED)))
def test_every_request_ends_or_is_refused_and_the_cache_is_never_above_its_room(asked, limits, policy):
    arrive, prompt, output = map(np.array, zip(*sorted(asked), strict=True))
    load = Load(arrive.astype(float), prompt, output)
    found = serve(load, Steps(), limits, policy_of(policy))
    never = [n for n in range(len(asked)) if limits.blocks_of(int(prompt[n] + output[n]) - 1) > limits.blocks]
    assert found.refused == never
    kept = np.setdiff1d(np.arange(len(asked)), never)
    admit, first, done = (np.array(t)[kept] for t in (found.admit_ns, found.first_ns, found.done_ns))
    assert (arrive[kept] <= admit).all()
    assert (admit < first).all()
    assert (first <= done).all()
    assert found.output_tokens == output[kept].sum()
    assert found.prompt_tokens >= prompt[kept].sum()
    assert bool(found.preemptions) == (found.prompt_tokens > prompt[kept].sum())
    assert max(found.steps[0].blocks, default=0) <= limits.blocks
    assert max(found.steps[0].batch, default=0) <= limits.batch
    if policy != "shortest":
        assert (np.diff(admit) >= 0).all()
    waited = [sum(found.waits.get(number, (0.0,))) for number in kept]
    assert np.allclose(waited, admit - arrive[kept], atol=1e-6)
    again = serve(load, Steps(), limits, policy_of(policy))
    assert bytes(again.done_ns) == bytes(found.done_ns)
