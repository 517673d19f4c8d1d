from kernbench.sim.clock cimport Loop
from kernbench.sim.node cimport FabricNode

cdef class Component(FabricNode):
    cdef readonly object node, system
    cdef readonly Loop clock
    cdef public dict _direct
