"""``triton.language.extra``: functions beyond the language, of one target."""

from kernbench.triton.language.extra import cuda as cuda
from kernbench.triton.language.extra import libdevice as libdevice
