"""What files of Inductor name of Triton's compiler; a name that is not here is an error of the import."""

from __future__ import annotations

from kernbench.inductor import Hint

AttrsDescriptor = Hint()
"""What is known of a kernel's arguments."""

__path__: list[str] = []
