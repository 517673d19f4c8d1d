from kernbench.engine.components.base cimport Component
from kernbench.engine.core.transaction cimport Packet

cdef class Transit(Component):
    pass

cdef class ChannelRouter(Transit):
    cpdef double service_ns(self, Packet packet, long long flit) except? -1.0
