from kernbench.engine.core.port cimport Arbiter

cdef class Priority(Arbiter):
    cpdef Py_ssize_t pick(self, list lines, Py_ssize_t last) except? -1
