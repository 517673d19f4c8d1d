cimport cython

from kernbench.hardware.routing.containers cimport Nearest, Wholes

cdef long long _UNREACHED

@cython.final
cdef class ConnectedPart:
    cdef dict places
    cdef Wholes targets, sources, weights, numbers, begins

@cython.final
cdef class RouteTable:
    cdef ConnectedPart part
    cdef Py_ssize_t start
    cdef Wholes misalignment, weight, order, taken, ranks
    cdef long long scale
    cdef readonly long long far_weight, far_order
    cdef Nearest waiting
    cdef readonly Py_ssize_t nbytes
    @cython.locals(found=Py_ssize_t, weight="long long")
    cpdef Py_ssize_t place(self, object component)
    cpdef long long weight_from(self, Py_ssize_t place)
    cpdef long long order_from(self, Py_ssize_t place)
    @cython.locals(part=ConnectedPart, taken="long long*", row="long long")
    cpdef list way(self, Py_ssize_t place)
    @cython.locals(row="long long")
    cpdef object step(self, Py_ssize_t place)
    @cython.locals(
        part=ConnectedPart, waiting=Nearest, scale="long long", begins="long long*", sources="long long*",
        weights="long long*", numbers="long long*", weight="long long*", order="long long*", taken="long long*",
        extra="long long*", ranks="long long*", at=Py_ssize_t, source=Py_ssize_t, row=Py_ssize_t, near="long long",
        later="long long", longer="long long", cost="long long",
    )
    cdef object _work_out(self, Py_ssize_t upto)
