from kernbench.engine.components.memory cimport Memory
from kernbench.engine.core.transaction cimport Packet

cdef int _COMMITS

cdef class Sram(Memory):
    cpdef double served(self, Packet packet, long long flit, double time, bint writing) except? -1.0
