"""A collective that was started."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kernbench.host import LaunchHandle


class Work:
    """One rank's part in a collective, as ``async_op=True``, ``isend`` and ``irecv`` return it."""

    def __init__(self, launch: LaunchHandle) -> None:
        self._launch = launch

    def wait(self) -> bool:
        """Return (True) when this rank's part is done; its tensors then hold the result."""
        self._launch.wait()
        return True

    def is_completed(self) -> bool:
        """True when this rank's part is done."""
        return self._launch.done

    def __repr__(self) -> str:
        return f"<Work {self._launch.name}, {'done' if self._launch.done else 'under way'}>"
