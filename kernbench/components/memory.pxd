from kernbench.components.base cimport Component
from kernbench.sim.columns cimport Doubles
from kernbench.sim.fabric cimport Fabric
from kernbench.sim.server cimport Server
from kernbench.sim.transaction cimport Packet, Transaction

cimport cython

cdef double _INFINITY

cdef class Memory(Component):
    cdef public double entry_ns, access_ns
    cdef public Server by

    cdef bint entry_worked_out
    @cython.locals(ns=double)
    cdef double entry(self, Packet packet) except? -1.0
    @cython.locals(done=double)
    cdef double served(self, Packet packet, long long flit, double time, bint writing) except? -1.0
    @cython.locals(transaction=Transaction, hop=Py_ssize_t, times=Doubles, server=Server)
    cpdef object receive_flit(self, Packet packet, long long flit, double time)
    @cython.locals(transaction=Transaction, answer=Packet, fabric=Fabric)
    cpdef object answer(self, Packet packet)
    @cython.locals(
        transaction=Transaction, answer=Packet, times=Doubles, slowest=Server, flit="long long",
        flit_bytes="long long",
    )
    cpdef object read(self, Packet packet, double time, double begun, double inside)
    @cython.locals(transaction=Transaction, place="long long", hop=Py_ssize_t, times=Doubles)
    cdef int depart(
        self, Packet packet, double time, double begun, double inside, double done, Server server, long long nbytes,
    ) except -1
