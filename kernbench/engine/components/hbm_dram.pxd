from kernbench.engine.components.dram_bus cimport PseudoChannel
from kernbench.engine.components.dram_channel cimport DramChannel
from kernbench.engine.components.dram_state cimport Bank, Burst, Pseudo
from kernbench.engine.components.dram_request cimport FlitRequest, ChannelState, MemoryRequest
from kernbench.engine.components.hbm cimport HbmSlice
from kernbench.engine.core.clock cimport Loop
from kernbench.engine.core.columns cimport Doubles, Words
from kernbench.engine.core.fabric cimport Fabric
from kernbench.engine.core.transaction cimport Packet, Transaction

cimport cython

cdef long long _FAR
cdef int _FORGET_EVERY

cdef class SliceChannel(DramChannel):
    cdef DramSlice slice
    cdef readonly list servers
    cdef double burst_ns, due_ns
    cdef long long lag
    cdef int count

    @cython.locals(clock=Loop, due=double)
    cdef object arm(self, long long tick)
    @cython.locals(part=FlitRequest, asked=MemoryRequest, server=PseudoChannel, state=ChannelState, issued=double, done=double)
    cpdef object served(self, Burst burst, long long at)
    @cython.locals(oldest=double, bank=Bank, burst=Burst, part=FlitRequest, server=PseudoChannel, pseudo=Pseudo)
    cdef object forget(self)

cdef class DramSlice(HbmSlice):
    cdef readonly dict figures
    cdef readonly list dram, places
    cdef double tick_ns, column_ns
    cdef int width, burst_shift, channel_bits, low_bits
    cdef long long burst_bytes, channel_mask, low_mask
    cdef readonly Words outcomes

    @cython.locals(transaction=Transaction, asked=MemoryRequest, answer=Packet)
    cpdef object request(self, Packet packet, long long flit, double time, double begun, double inside)
    @cython.locals(shift=int, inner="long long")
    cdef (long long, long long) _split(self, long long line) except *
    @cython.locals(
        part=FlitRequest, size="long long", first="long long", end="long long", came="long long", line="long long",
        last="long long", at="long long", moved="long long", transaction=Transaction, made=list, index="long long", inner="long long", place="long long",
        channel=SliceChannel, bank=Bank, row="long long", bit="long long", found=bint, burst=Burst,
        number="long long", server=PseudoChannel,
    )
    cpdef object submit(self, MemoryRequest asked, Packet packet, long long flit, double time, bint write)
    @cython.locals(asked=MemoryRequest, answer=Packet, fabric=Fabric, transaction=Transaction, ready=double, following=FlitRequest)
    cpdef object part_done(self, FlitRequest part)
    @cython.locals(server=PseudoChannel, number=int, behind=double, state=ChannelState)
    cpdef object over(self, MemoryRequest asked)
    @cython.locals(
        rows=Words, room=double, number=int, state=ChannelState, server=PseudoChannel, refresh=double, row=double,
    )
    cpdef object note_rows(self, MemoryRequest asked, double behind)
