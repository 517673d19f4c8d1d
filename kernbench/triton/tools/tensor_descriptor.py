"""``triton.tools.tensor_descriptor``: descriptors are made in kernels here."""

from __future__ import annotations

from typing import Any

from kernbench.errors import UsageError


class TensorDescriptor:
    """A descriptor that the host makes: an error that says what to do instead."""

    def __init__(self, *_: Any, **__: Any) -> None:
        raise UsageError(
            "TensorDescriptor: pass the tensor; tl.make_tensor_descriptor makes a descriptor in the kernel"
        )

    from_tensor = classmethod(lambda cls, *given: cls(*given))
