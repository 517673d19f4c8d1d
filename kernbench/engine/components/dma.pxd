from kernbench.hardware.address.requests cimport PhysicalRequest
from kernbench.engine.components.access cimport Requests
from kernbench.engine.components.base cimport Component
from kernbench.engine.program.operations cimport Op
from kernbench.engine.core.clock cimport Loop
from kernbench.engine.core.server cimport Server
from kernbench.engine.core.transaction cimport Transaction

cimport cython

cdef class Job(Requests):
    cdef public Op op
    cdef public object kind, runs, regions
    cdef public list requests
    cdef public bint is_write
    cdef public long long nbytes
    cdef public double t_ready, t_start, t_issued, t_head, feeding_gbs
    cdef public DmaEngines engines
    cdef public DmaEngine engine
    cdef public Server slot

    cpdef object answered(self)

cdef class DmaEngine:
    cdef public list slots
    cdef public bint issuing
    cdef public Transaction issued
    cdef public Py_ssize_t in_flight
    cdef public double busy_since

    @cython.locals(slot=Server)
    cpdef object reset(self)
    @cython.locals(found=Server, slot=Server)
    cpdef Server free_slot(self)

cdef class EngineGroup:
    cdef public list engines
    cdef public object queue
    cdef public long long jobs

    @cython.locals(engine=DmaEngine)
    cpdef object reset(self)
    @cython.locals(found=DmaEngine, engine=DmaEngine)
    cpdef DmaEngine free_engine(self)

cdef class DmaEngines:
    cdef readonly Component owner
    cdef readonly object counts, traffic, requests, gathered
    cdef public double translation_ns
    cdef object _source, _sink, _used
    cdef dict _known
    cdef bint _keeps
    cdef readonly EngineGroup _reading, _writing
    cdef long long fed

    cpdef object reset(self)
    @cython.locals(request=PhysicalRequest, known=list, found=list)
    cpdef list requests_for(self, object address, object nbytes)
    @cython.locals(group=EngineGroup, owner=Component)
    cpdef object submit(self, Job job)
    cdef EngineGroup _group(self, Job job)
    @cython.locals(engine=DmaEngine, job=Job, slot=Server, clock=Loop)
    cpdef object _next(self, EngineGroup group, long long freed_by=*)
    @cython.locals(clock=Loop, ready=double)
    cpdef object _translated(self, Job job, DmaEngine engine, EngineGroup group)
    @cython.locals(issued_later=bint)
    cpdef object _sent(self, Job job, DmaEngine engine, EngineGroup group)
    @cython.locals(owner=Component, op=Op, slot=Server, sent=list, leaves=list, transaction=Transaction, i=Py_ssize_t)
    cdef object _issue(self, Job job, DmaEngine engine)
    @cython.locals(owner=Component, slot=Server, wait=double, idle=double)
    cdef object _engine_hop(self, Transaction transaction, Job job, DmaEngine engine, double out)
    @cython.locals(owner=Component, wait=double, now=double)
    cpdef object fed_hop(self, Transaction transaction, double head, double out)
    @cython.locals(now=double)
    cdef double _behind_fed(self, Transaction transaction, double head) except? -1.0
    @cython.locals(clock=Loop, over=double)
    cpdef object answered(self, Job job)
    @cython.locals(engine=DmaEngine, slot=Server, group=EngineGroup, now=double, owner=Component)
    cpdef object _over(self, Job job)
