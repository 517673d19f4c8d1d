"""What simulated times have to be, nan and infinity left out, and the errors where one is not.

The queue and each place where a component answers with a time compare it themselves, as that costs nothing;
what is wrong is worded here. A nan would compare as later than nothing and earlier than nothing, and the run
would go on in disorder.
"""

from __future__ import annotations

from kernbench.errors import ComponentError
from kernbench.support.user_code import defined_at


def untimely(time: float, now: float) -> ValueError:
    """The error for something that is to happen at ``time``, ns."""
    return ValueError(
        f"something is to happen at {time:g} ns, and it is {now:g} ns; expected a finite time from then on"
    )


def wrong_answer(component: object, method: str, time: float, least: float = 0.0) -> ComponentError:
    """The error for a component whose ``method``, or attribute of that name, gives ``time``, ns."""
    named = f"component '{getattr(component, 'resource', '')}' ({type(component).__name__})"
    line = defined_at(type(component), method)
    return ComponentError(
        f"{named}: {method} is {time:g} ns, expected a finite time of at least {least:g} ns"
        f"{f' ({line})' if line else ''}"
    )
