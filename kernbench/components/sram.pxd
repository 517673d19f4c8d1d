from kernbench.components.memory cimport Memory
from kernbench.sim.transaction cimport Packet

cdef class Sram(Memory):
    cdef double served(self, Packet packet, long long flit, double time, bint writing) except? -1.0
