from kernbench.sim.port cimport Arbiter, PortLine

cimport cython

cdef class OldestFirst(Arbiter):
    @cython.locals(line=PortLine, place=Py_ssize_t, best=Py_ssize_t, least="long long", one="long long")
    cpdef Py_ssize_t pick(self, list lines, Py_ssize_t last) except? -1
