from kernbench.components.dram_channel cimport DramChannel
from kernbench.components.dram_state cimport Bank, Burst
from kernbench.components.hbm cimport HbmSlice
from kernbench.sim.booked cimport Booked
from kernbench.sim.clock cimport Loop, Step
from kernbench.sim.columns cimport Doubles
from kernbench.sim.holding cimport Held as Parts, Runs
from kernbench.sim.fabric cimport Fabric
from kernbench.sim.transaction cimport Packet, Transaction

cimport cython

cdef long long _FAR
cdef int _HIT, _MISS
cdef int _FORGET_EVERY, _LOOKED_AT

cdef class Visit:
    cdef readonly Packet packet, answer
    cdef readonly double last_in, begun, inside, done, issued
    cdef list parts, uses
    cdef long long unserved, next
    cdef readonly PseudoChannel by
    cdef public long long hits, misses, conflicts, touched

cdef class Part:
    cdef readonly Visit visit
    cdef readonly long long flit, left
    cdef double done, issued
    cdef PseudoChannel by

cdef class PseudoChannel(Booked):
    cdef public object node
    cdef readonly int place
    cdef double total, before_run, own_ns
    cdef list sums
    cdef Py_ssize_t gone

    @cython.locals(count=Py_ssize_t, follows=bint)
    cpdef double occupy(self, double time, double duration, object owner) except? -1.0
    @cython.locals(count=Py_ssize_t)
    cdef int forget_until(self, double oldest) except -1
    @cython.locals(
        runs=Runs, parts=Parts, cut=Py_ssize_t, middle=double, n=int, own=double, k=int, low=Py_ssize_t,
        high=Py_ssize_t, at=Py_ssize_t, since=double, begun=double, rest=double, first=Py_ssize_t,
    )
    cpdef int waits(self, object owner, double begin, double end) except -1

cdef class SliceChannel(DramChannel):
    cdef DramSlice slice
    cdef list servers
    cdef double burst_ns, due_ns
    cdef long long lag
    cdef Wake wake
    cdef int count

    @cython.locals(clock=Loop, due=double)
    cdef object arm(self, long long tick)
    @cython.locals(part=Part, visit=Visit, server=PseudoChannel, issued=double, done=double)
    cpdef object served(self, Burst burst, long long at)
    @cython.locals(oldest=double, bank=Bank, burst=Burst, part=Part, server=PseudoChannel)
    cdef object forget(self)

cdef class Wake(Step):
    cdef SliceChannel channel

cdef class DramSlice(HbmSlice):
    cdef readonly dict figures
    cdef readonly list dram, places
    cdef double tick_ns, column_ns
    cdef int width, burst_shift, channel_bits, low_bits
    cdef long long burst_bytes, channel_mask, low_mask
    cdef public object on_visit

    @cython.locals(transaction=Transaction, visit=Visit, answer=Packet, fabric=Fabric, times=Doubles)
    cpdef object receive_flit(self, Packet packet, long long flit, double time)
    @cython.locals(
        part=Part, size="long long", first="long long", end="long long", came="long long", line="long long",
        last="long long", shift=int, made=list, index="long long", inner="long long", place="long long",
        channel=SliceChannel, bank=Bank, row="long long", bit="long long", found=bint, burst=Burst,
        number="long long", server=PseudoChannel, low="long long",
    )
    cdef object submit(self, Visit visit, Packet packet, long long flit, double time, bint write)
    @cython.locals(visit=Visit, answer=Packet, fabric=Fabric, transaction=Transaction, ready=double, following=Part)
    cdef object part_done(self, Part part)
    @cython.locals(
        packet=Packet, transaction=Transaction, wait=double, server=PseudoChannel, number=int, behind=double,
        hop=Py_ssize_t, times=Doubles,
    )
    cdef object over(self, Visit visit)
