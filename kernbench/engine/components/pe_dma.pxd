from kernbench.hardware.address.requests cimport PhysicalRequest
from kernbench.engine.components.dma cimport DmaEngines, Job
from kernbench.engine.components.pe_component cimport PeComponent, Token
from kernbench.engine.program.operations cimport Op
from kernbench.engine.program.tile_plans cimport Stage, OperandBytes
from kernbench.engine.core.node cimport Link
from kernbench.engine.core.server cimport Server
from kernbench.engine.core.transaction cimport Packet

cimport cython

cdef class PeDma(PeComponent):
    cdef readonly bint own_service
    cdef public object queue_channel
    cdef readonly object _tcm_name
    cdef readonly DmaEngines dma
    cdef Link _tcm_out, _tcm_in
    cdef double _router_gbs, _issue_cycles, _issue_bytes, _rearrange_cycles, _rearrange_bytes, _cycle_ns
    cdef readonly bint issues, rearranges
    cdef readonly Server issue_slot
    cdef object _gemm

    @cython.locals(head=double)
    cpdef double from_tcm(self, long long nbytes) except? -1.0
    cpdef double feeding_gbs(self) except? -1.0
    @cython.locals(head=double)
    cpdef double _sent_from_tcm(self, Job job) except? -1.0
    @cython.locals(now=double, across=double)
    cpdef double _into_tcm(self, Job job) except? -1.0
    @cython.locals(first=PhysicalRequest)
    cdef bint _is_local(self, Job job) except -1
    @cython.locals(moving=Transfers, op=Op, transfer=OperandBytes, stage=Stage, reading=bint)
    cpdef object accept(self, Token token)
    @cython.locals(start=double)
    cpdef object issue(self, Job job)
    cpdef object store(self, Job job)
    @cython.locals(duration=double, now=double, start=double, slot=Server)
    cdef double _take_slot(self, Job job, double cycles, double rate) except? -1.0
    cpdef object submit(self, Job job)
    @cython.locals(hops=Py_ssize_t, link=Link)
    cpdef object receive(self, Packet packet)

cdef class Transfers:
    cdef PeDma dma
    cdef Token token
    cdef Py_ssize_t left

    cpdef object one_done(self)
