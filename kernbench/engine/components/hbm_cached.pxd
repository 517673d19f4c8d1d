from kernbench.engine.components.hbm cimport HbmSlice
from kernbench.engine.core.clock cimport Loop
from kernbench.engine.core.columns cimport Doubles, Words
from kernbench.engine.core.fabric cimport Fabric
from kernbench.engine.core.server cimport Server
from kernbench.engine.core.transaction cimport Packet, Transaction

cimport cython

cdef double _INFINITY

cdef class SharedRead:
    cdef readonly long long transaction, nbytes, reads
    cdef readonly double done, until
    cdef readonly object by

cdef class CacheLine:
    cdef readonly long long number
    cdef readonly list fetched, dirty
    cdef readonly dict turns
    cdef readonly bint again
    cdef readonly double room_ns
    cdef readonly object room_by

cdef class CacheUse:
    cdef readonly long long hits, misses, again, merged, writes, evictions, dirtied, written_back, coalesced, coalesced_bytes

    cpdef object add(self, CacheUse more)

cdef class CachedSlice(HbmSlice):
    cdef readonly Server cache
    cdef readonly double gbs, write_gbs, array_ns
    cdef readonly bint write_back
    cdef readonly long long burst_bytes, line_bursts, ways, n_sets, coalesce
    cdef int line_shift
    cdef readonly dict sets
    cdef set gone
    cdef object recent
    cdef readonly CacheUse use, total
    cdef Doubles served_by, asked_bytes
    cdef bint asks
    cdef readonly Words outcomes, dealt_rows

    @cython.locals(number=Py_ssize_t, done=double, channel=Server)
    cpdef object request(self, Packet packet, long long flit, double time, double begun, double inside)
    @cython.locals(
        transaction=Transaction, size="long long", address="long long", places=list, sizes=list, ends=list,
        number=Py_ssize_t, last=double, until=double, done=double, by=Server,
    )
    cpdef double burst(self, Packet packet, long long flit, double time, bint writing) except? -1.0
    @cython.locals(cache=Server, use=CacheUse, line=CacheLine, duration=double, done=double, place=Py_ssize_t, fetched=double)
    cpdef double access(self, long long burst, long long nbytes, Transaction transaction, double time, bint writing) except? -1.0
    @cython.locals(line=CacheLine, turn=SharedRead, use=CacheUse, place=Py_ssize_t, fetched=double)
    cpdef double shared(self, long long burst, long long nbytes, Transaction transaction, double time) except? -1.0
    @cython.locals(rows=Words)
    cpdef object deal(self, Transaction transaction, Server part, long long nbytes)
    @cython.locals(written=double)
    cpdef double write_through(self, long long burst, Transaction transaction, double time, double done) except? -1.0
    @cython.locals(place="long long", found=CacheLine)
    cpdef CacheLine find(self, long long number, Transaction transaction, double time)
    @cython.locals(use=CacheUse, place=Py_ssize_t, channel="long long", done=double)
    cpdef object evict(self, CacheLine gone, CacheLine line, Transaction transaction, double time)
    @cython.locals(channel=Server, done=double)
    cpdef double ask(self, Py_ssize_t number, Transaction transaction, double time, bint writing) except? -1.0
    @cython.locals(behind=double, transaction=Transaction, use=CacheUse, missed=double, own=double, rows=Words)
    cpdef double depart(
        self, Packet packet, double time, double begun, double inside, double until, double done, Server server,
    ) except? -1.0
