from kernbench.sim.fabric cimport Fabric
from kernbench.sim.fifo_monitor cimport FifoMonitor
from kernbench.sim.link_monitors cimport InFlight, LinkQueue, Way
from kernbench.sim.node cimport Link
from kernbench.sim.server cimport Server
from kernbench.sim.transaction cimport Packet

cimport cython

cdef class ScoreboardFabric(Fabric):
    cdef dict __dict__  # what is looked at rarely is not declared
    cdef object _order
    cdef double _time
    cdef dict _ways
    cdef readonly dict in_flight, open, carried, users

    @cython.locals(number="long long", flight=InFlight)
    cpdef InFlight _begin(self, Packet packet)
    @cython.locals(line=LinkQueue)
    cpdef object _stand(self, InFlight flight, Py_ssize_t hop, long long flit, double time, tuple order=*)
    @cython.locals(flight=InFlight, way=Way, monitor=FifoMonitor, end=double, leaves=double)
    cpdef object flit_arrives(self, double time, Packet packet, long long hop, long long flit)
    @cython.locals(flight=InFlight, line=LinkQueue, link=Link, number="long long", when=double)
    cpdef InFlight _due(self, double time, long long hop, long long flit, Packet packet)
    @cython.locals(number="long long")
    cpdef object _delivered(self, Packet packet)
    @cython.locals(link=Link, line=LinkQueue)
    cpdef object at_rest(self, double now)

@cython.locals(resource=Server, link=Link, busy=double, streamed=double, needed=double, allowed=double)
cpdef object check_use(list resources, double now)
