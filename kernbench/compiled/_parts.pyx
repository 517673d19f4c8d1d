# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
# cython: nonecheck=False, auto_pickle=False, binding=False
"""Parts of a PE and rows of the op log in C.

Each class here does what the Python class of the same purpose does, with the same operations on the same numbers
in the same order, so that every time comes out the same to its last bit.
"""

cimport cython
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from cpython.object cimport PyObject
from libc.math cimport INFINITY
from libc.stdint cimport int32_t, int64_t
from libc.string cimport memcpy

from kernbench.sim.clock cimport Loop as Clock, Step
from kernbench.sim.columns cimport Block
from kernbench.sim.node cimport FabricNode, Link
from kernbench.sim.server cimport Server
from kernbench.sim.transaction cimport Path, Transaction

include "ledger.pxi"
include "tcm.pxi"
include "pe_stages.pxi"
include "pe_commands.pxi"
include "oplog.pxi"
