"""``triton.language.extra.cuda.libdevice``: the functions of ``triton.language.extra.libdevice``."""

from kernbench.triton.language.extra.libdevice import *  # noqa: F403
from kernbench.triton.language.extra.libdevice import __getattr__ as __getattr__
