from kernbench.engine.components.base cimport Component
from kernbench.engine.core.columns cimport Doubles
from kernbench.engine.core.fabric cimport Fabric
from kernbench.engine.core.server cimport Server
from kernbench.engine.core.transaction cimport Packet, Transaction

cimport cython

cdef int _ENTRY
cdef double _INFINITY

cdef class Memory(Component):
    cdef public double entry_ns, access_ns
    cdef public Server by
    cdef double until

    @cython.locals(ns=double)
    cpdef double entry(self, Packet packet) except? -1.0
    @cython.locals(done=double)
    cpdef double served(self, Packet packet, long long flit, double time, bint writing) except? -1.0
    @cython.locals(hop=Py_ssize_t)
    cpdef object receive_flit(self, Packet packet, long long flit, double time)
    @cython.locals(transaction=Transaction)
    cpdef object request(self, Packet packet, long long flit, double time, double begun, double inside)
    @cython.locals(transaction=Transaction, answer=Packet)
    cpdef object answer(self, Packet packet)
    @cython.locals(answer=Packet)
    cpdef Packet answer_to(self, Transaction transaction, long long nbytes)
    @cython.locals(transaction=Transaction, answer=Packet, times=Doubles, slowest=Server, flit="long long",
                   ready=double, until=double, done=double)
    cpdef object read(self, Packet packet, double time, double begun, double inside)
    @cython.locals(transaction=Transaction, place="long long", hop=Py_ssize_t, times=Doubles, nbytes="long long")
    cpdef double depart(
        self, Packet packet, double time, double begun, double inside, double until, double done, Server server,
    ) except? -1.0
