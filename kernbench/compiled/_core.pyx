# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
# cython: nonecheck=False, auto_pickle=False, binding=False
"""The event loop in C: queue, servers, packets, fabric, HBM, SRAM, parts of a PE, rows of trace and op log.

Each class here does what the Python class of the same purpose does, with the same operations on the same numbers
in the same order, so that every time comes out the same to its last bit. The Python classes say why; comments here
say only what is different in C. Sums of floats keep their order, and the compiler must not contract a product and
a sum into one instruction (``-ffp-contract=off``).

Objects that may be part of reference cycles are kept in Python lists and attributes, never behind bare pointers,
so that Python's garbage collector sees them.
"""

from operator import attrgetter

cimport cython
from cpython.exc cimport PyErr_CheckSignals
from cpython.buffer cimport PyBuffer_FillInfo
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from cpython.object cimport PyObject
from libc.math cimport INFINITY
from libc.stdint cimport int16_t, int32_t, int64_t, uint32_t, uint64_t, uintptr_t
from libc.stdlib cimport calloc, free, malloc, realloc
from libc.string cimport memcpy

cdef extern from *:
    """
    #include <float.h>
    #if defined(FLT_EVAL_METHOD) && FLT_EVAL_METHOD != 0
    #error "this compiler evaluates doubles in a wider type, so results would differ; KernBench runs in Python"
    #endif
    #ifndef KERNBENCH_SOURCE
    #define KERNBENCH_SOURCE unknown
    #endif
    #define KERNBENCH_TEXT_OF(word) #word
    #define KERNBENCH_TEXT(word) KERNBENCH_TEXT_OF(word)
    static const char* kernbench_source = KERNBENCH_TEXT(KERNBENCH_SOURCE);
    """
    const char* kernbench_source

by_key = attrgetter("key")

SOURCE = kernbench_source.decode()
"""The digest of the files that this module was compiled from."""

include "queue.pxi"
include "server.pxi"
include "transaction.pxi"
include "memory.pxi"
include "fabric.pxi"
include "clock.pxi"
include "ledger.pxi"
include "tcm.pxi"
include "pe_stages.pxi"
include "pe_commands.pxi"
include "rows.pxi"
include "oplog.pxi"
include "routes.pxi"
include "scratch.pxi"
