from kernbench.sim.port cimport Arbiter, PortLine

cimport cython

cdef class RoundRobin(Arbiter):
    @cython.locals(line=PortLine, place=Py_ssize_t)
    cpdef Py_ssize_t pick(self, list lines, Py_ssize_t last) except? -1
