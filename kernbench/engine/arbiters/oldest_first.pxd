from kernbench.engine.core.inputs cimport InputQueue
from kernbench.engine.core.port cimport Arbiter

cimport cython

cdef class OldestFirst(Arbiter):
    @cython.locals(line=InputQueue, place=Py_ssize_t, best=Py_ssize_t, least="long long", one="long long")
    cpdef Py_ssize_t pick(self, list lines, Py_ssize_t last) except? -1
