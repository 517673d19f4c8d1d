cimport cython

from kernbench.hardware.routing.tables cimport RouteTable

@cython.final
cdef class Attachment:
    cdef list links
    cdef long long weight_nm
    cdef object name, at

@cython.final
cdef class RouteCandidate:
    cdef readonly long long weight_nm, order
    cdef readonly list first, last
    cdef readonly RouteTable table
    cdef readonly Py_ssize_t place

cdef class Router:
    cdef readonly object _graph, _core, _connections, _preference, _within, _anywhere, _tables
    cdef readonly Py_ssize_t _table_bytes
    cdef readonly bint one_way, own_back
    cdef dict _routes, _departures, _arrivals, _out, _into, _kinds

    cpdef object route(self, str src, str dst, object traffic, str via=*)
    @cython.locals(best=RouteCandidate, links=list)
    cdef object _find(self, str src, str dst, object traffic, str via)
    @cython.locals(best=RouteCandidate)
    cpdef RouteCandidate shortest(self, object a, object b, object traffic, str via)
    @cython.locals(way=Attachment, within=bint, count=Py_ssize_t, found=list)
    cpdef list usable(self, str src, str dst, object traffic, str via=*)
    @cython.locals(
        best=RouteCandidate, departures=list, last=Attachment, first=Attachment, table=RouteTable, count=Py_ssize_t,
        place=Py_ssize_t, weight="long long", order="long long", within_cube=bint,
    )
    cdef RouteCandidate _best(self, object a, object b, object banned, str via)
    cdef list _links(self, RouteCandidate best)
    cdef bint _has_twin(self, object link)
    @cython.locals(found=list, index=dict)
    cdef list _ways_from(self, object a, object banned)
    @cython.locals(found=list, index=dict)
    cdef list _ways_to(self, object b, object banned)
    cdef list _allowed(self, dict links, object name, object banned)
    @cython.locals(key=tuple, table=RouteTable)
    cdef RouteTable _table(self, object destination, bint within_cube)
    cdef object _kind(self, object name)
    cdef object _wired(self, object name)

@cython.locals(p=dict, q=dict)
cdef object _banned(object a, object b, object traffic)
cdef bint _before(long long weight_nm, long long order, RouteCandidate best)
