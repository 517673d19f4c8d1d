"""``triton.language.extra.cuda``: the same functions under the name of CUDA."""

from kernbench.triton.language.extra import libdevice as libdevice
