from kernbench.sim.port cimport Arbiter, Line

cimport cython

cdef class RoundRobin(Arbiter):
    @cython.locals(line=Line, place=Py_ssize_t)
    cpdef Py_ssize_t pick(self, list lines, Py_ssize_t last) except? -1
