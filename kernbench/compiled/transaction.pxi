# Transactions, paths and packets: kernbench.sim.transaction.

DEF HOP_BITS = 12
DEF FLIT_BITS = 32

cdef object HopRow, Wait, RoutingError, UsageError, fsum
cdef type FabricNode = None, Link = None, TransactionClass = None, PacketClass = None

cdef enum:
    IS_TRANSIT = 1
    TAKES_FLITS = 2
    SENDS = 4
    OWN_SERVICE = 8
    PLAIN_SERVICE = 16
    OWN_LEAVE = 32

cdef struct HopC:
    int64_t resource
    double t_in
    double t_start
    double t_out
    double service_ns
    double wait_ns
    int64_t nbytes

cdef struct WaitC:
    int64_t of
    int64_t holder
    int64_t resource
    int64_t holders
    int64_t seq
    double ns
    double t_from
    double t_to


def register(*, hop_row, wait, routing_error, usage_error, exact_sum, node, link, transaction, packet):
    """Name the Python classes that this module makes objects of, or asks for."""
    global HopRow, Wait, RoutingError, UsageError, fsum, FabricNode, Link, TransactionClass, PacketClass
    HopRow, Wait, RoutingError, UsageError, fsum = hop_row, wait, routing_error, usage_error, exact_sum
    FabricNode, Link, TransactionClass, PacketClass = node, link, transaction, packet
    if not issubclass(PacketClass, Packet) or not issubclass(TransactionClass, Transaction):
        raise TypeError("the class of packets or of transactions is not the compiled one")


cdef class Transaction:
    """One request and its answer; see the Python class."""

    cdef readonly int64_t id
    cdef public object kind, src, dst, message, ids, on_done, on_served, access
    cdef public int64_t nbytes, parent, op, address, channel
    cdef public double t_submit, t_done, t_first, wait_ns
    cdef public Path path
    cdef public bint is_write, traced
    cdef HopC* _hops
    cdef WaitC* _waits
    cdef Py_ssize_t n_hops, hops_room, n_waits, waits_room

    def __init__(
        self,
        id,
        kind,
        src,
        dst,
        int64_t nbytes,
        double t_submit,
        Path path,
        *,
        int64_t parent=-1,
        int64_t op=-1,
        int64_t address=0,
        int64_t channel=-1,
        bint is_write=False,
        message=None,
        ids=("", ""),
        on_done=None,
        bint traced=True,
    ):
        self.id = id
        self.kind = kind
        self.src = src
        self.dst = dst
        self.nbytes = nbytes
        self.t_submit = t_submit
        self.t_done = -1.0
        self.path = path
        self.parent = parent
        self.op = op
        self.address = address
        self.channel = channel
        self.is_write = is_write
        self.message = message
        self.ids = ids
        self.on_done = on_done
        self.traced = traced

    def __dealloc__(self):
        free(self._hops)
        free(self._waits)

    @property
    def hops(self):
        return tuple([
            (h.resource, h.t_in, h.t_start, h.t_out, h.service_ns, h.wait_ns, h.nbytes)
            for h in self._hops[:self.n_hops]
        ])

    @property
    def rows(self):
        return [HopRow(*hop) for hop in self.hops]

    @property
    def waits(self):
        return tuple([
            Wait(w.holder, w.resource, w.ns, w.holders, w.seq, w.t_from, w.t_to)
            for w in self._waits[:self.n_waits]
        ])

    def note_hop(self, hop):
        resource, t_in, t_start, t_out, service_ns, wait_ns, nbytes = hop
        self.hop(resource, t_in, t_start, t_out, service_ns, wait_ns, nbytes)

    def record_waits(self, int64_t resource, held):
        cdef double total = 0.0, ns
        for holder, ns, t_from, t_to, holders in held:
            self.wait(holder.id, resource, ns, holders, t_from, t_to)
            total += ns
        return total

    def waited(self):
        """The sum of its waits, ns, rounded once."""
        if not self.n_waits:
            return 0.0
        if self.n_waits == 1:
            return self._waits[0].ns
        if self.n_waits == 2:
            return self._waits[0].ns + self._waits[1].ns
        return fsum([w.ns for w in self._waits[:self.n_waits]])

    def forget(self):
        """Its hops and waits have been gathered."""
        free(self._hops)
        free(self._waits)
        self._hops = NULL
        self._waits = NULL
        self.n_hops = self.hops_room = self.n_waits = self.waits_room = 0

    cdef int hop(
        self,
        int64_t resource,
        double t_in,
        double t_start,
        double t_out,
        double service_ns,
        double wait_ns,
        int64_t nbytes,
    ) except -1:
        cdef HopC* hops
        cdef Py_ssize_t room
        if self.n_hops == self.hops_room:
            room = 2 * self.hops_room
            if not room:
                room = 8 if self.path is None else 4 * self.path.hops + 4  # there and back
            hops = <HopC*>realloc(self._hops, room * sizeof(HopC))
            if hops == NULL:
                raise MemoryError
            self._hops, self.hops_room = hops, room
        hops = &self._hops[self.n_hops]
        hops.resource = resource
        hops.t_in = t_in
        hops.t_start = t_start
        hops.t_out = t_out
        hops.service_ns = service_ns
        hops.wait_ns = wait_ns
        hops.nbytes = nbytes
        self.n_hops += 1
        return 0

    cdef int wait(
        self, int64_t holder, int64_t resource, double ns, int64_t holders, double t_from, double t_to
    ) except -1:
        cdef WaitC* waits
        cdef Py_ssize_t room
        if self.n_waits == self.waits_room:
            room = 2 * self.waits_room if self.waits_room else 8
            waits = <WaitC*>realloc(self._waits, room * sizeof(WaitC))
            if waits == NULL:
                raise MemoryError
            self._waits, self.waits_room = waits, room
        waits = &self._waits[self.n_waits]
        waits.of = self.id
        waits.holder = holder
        waits.resource = resource
        waits.ns = ns
        waits.holders = holders
        waits.seq = self.n_hops  # the hop is noted next
        waits.t_from = t_from
        waits.t_to = t_to
        self.n_waits += 1
        return 0

    cdef double note_waits(self, int64_t resource, Server server, double begin, double end) except? -1.0:
        """``record_waits(resource, server.waited_for(self, begin, end))``."""
        cdef Hold found[MOST_HELD]
        cdef int n = server.waits(<PyObject*>self, begin, end, found), i
        cdef double total = 0.0
        cdef int64_t holder
        for i in range(n):
            if isinstance(<object>found[i].holder, Transaction):
                holder = (<Transaction><object>found[i].holder).id
            else:
                holder = (<object>found[i].holder).id
            self.wait(holder, resource, found[i].ns, found[i].holders, found[i].t_from, found[i].t_to)
            total += found[i].ns
        return total


cdef class Path:
    """A route compiled to the objects that carry it; see the Python class."""

    cdef readonly tuple nodes, links, reassembles
    cdef public double weight
    cdef public Path reverse
    cdef Py_ssize_t hops  # number of links
    cdef char* flags
    """Of each node what it is. Nodes say so once, when the first path over them is made."""

    def __init__(self, nodes, links):
        cdef Py_ssize_t end, i
        cdef int flags
        self.nodes = tuple(nodes)
        self.links = tuple(links)
        if len(self.nodes) >> HOP_BITS:
            raise RoutingError(
                f"the route from '{nodes[0].resource}' to '{nodes[len(nodes) - 1].resource}' passes {len(nodes)} "
                f"components, and a route has at most {(1 << HOP_BITS) - 1}; make the machine smaller"
            )
        for node in self.nodes:
            if not isinstance(node, FabricNode) or not isinstance(node, Server):
                raise TypeError(f"a path over {node!r}, which is no component")
        for link in self.links:
            if not isinstance(link, Link) or not isinstance(link, Server):
                raise TypeError(f"a path over {link!r}, which is no link")
        self.weight = 0.0
        self.reverse = self
        self.hops = len(self.links)
        end = len(self.nodes) - 1
        self.flags = <char*>calloc(end + 2, 1)
        if self.flags == NULL:
            raise MemoryError
        reassembles = []
        for i, node in enumerate(self.nodes):
            flags = 0
            if node.role == 0:
                flags |= IS_TRANSIT
            if node.takes_flits:
                flags |= TAKES_FLITS
            if node.sends:
                flags |= SENDS
            if node.own_service:
                flags |= OWN_SERVICE
            if node.plain_service:
                flags |= PLAIN_SERVICE
            if type(node).leave is not Server.leave:
                flags |= OWN_LEAVE
            self.flags[i] = <char>flags
            reassembles.append(not node.takes_flits if i == end else not flags & IS_TRANSIT)
        self.reassembles = tuple(reassembles)

    def __dealloc__(self):
        free(self.flags)

    def latency_ns(self):
        return fsum([*(node.overhead_ns for node in self.nodes), *(link.delay_ns for link in self.links)])

    cdef inline bint whole_at(self, Py_ssize_t hop) noexcept:
        """Whether the node waits for the whole message: ``reassembles``."""
        if hop == self.hops:
            return not self.flags[hop] & TAKES_FLITS
        return not self.flags[hop] & IS_TRANSIT


@cython.final
cdef class Times:
    """Times at the nodes or links of a packet's path, for Python: a view."""

    cdef Packet packet
    cdef Py_ssize_t begin

    def __len__(self):
        return self.packet.path.hops + 1

    cdef double* at(self, Py_ssize_t i) except NULL:
        cdef Py_ssize_t n = self.packet.path.hops + 1
        if i < 0:
            i += n
        if not 0 <= i < n:
            raise IndexError(i)
        return &self.packet.times[self.begin + i]

    def __getitem__(self, Py_ssize_t i):
        return self.at(i)[0]

    def __setitem__(self, Py_ssize_t i, double value):
        self.at(i)[0] = value


cdef class Packet:
    """``nbytes`` of one transaction on their way over one path; see the Python class."""

    cdef readonly Transaction transaction
    cdef Path path
    cdef public bint pays
    cdef readonly int64_t nbytes, last, last_bytes
    cdef public object feed, turn
    cdef public Py_ssize_t feed_hop
    cdef double* times   # node_in, node_start, link_in, link_start of each hop, one after the other
    cdef Py_ssize_t stride
    cdef double* fed     # the feed of the compiled fabric
    cdef double turn_done
    cdef Server turn_server

    def __init__(self, Transaction transaction not None, Path path not None, int64_t nbytes, int64_t flit_bytes):
        self.prepare(transaction, path, nbytes, flit_bytes)

    def __dealloc__(self):
        free(self.times)
        free(self.fed)

    cdef int prepare(self, Transaction transaction, Path path, int64_t nbytes, int64_t flit_bytes) except -1:
        cdef int64_t flits
        if flit_bytes < 1 or nbytes < 0:
            raise ValueError(f"a packet of {nbytes} bytes in flits of {flit_bytes}")
        self.transaction = transaction
        self.path = path
        self.pays = transaction.access is None or transaction.access.first == transaction.id
        self.nbytes = nbytes
        flits = (nbytes + flit_bytes - 1) // flit_bytes
        if not flits:
            flits = 1
        self.last = flits - 1
        self.last_bytes = nbytes - (flits - 1) * flit_bytes
        if self.last >> FLIT_BITS:
            raise UsageError(
                f"{transaction.kind} of {nbytes} bytes from {transaction.src} to {transaction.dst}: that is "
                f"{flits} flits, and a message has at most {1 << FLIT_BITS}; split it, or use larger flits"
            )
        free(self.times)
        self.stride = path.hops + 1
        self.times = <double*>calloc(4 * self.stride, sizeof(double))
        if self.times == NULL:
            raise MemoryError
        self.feed = ()
        self.feed_hop = -1
        return 0

    cdef double* feeds(self) except NULL:
        """Room for a time of each flit."""
        free(self.fed)
        self.fed = <double*>malloc((self.last + 1) * sizeof(double))
        if self.fed == NULL:
            raise MemoryError
        return self.fed

    @property
    def key(self):
        return (<object>self.transaction.id) << (HOP_BITS + FLIT_BITS)

    @property
    def nodes(self):
        return self.path.nodes

    @property
    def links(self):
        return self.path.links

    @property
    def reassembles(self):
        return self.path.reassembles

    cdef Times view(self, Py_ssize_t part):
        cdef Times times = Times.__new__(Times)
        times.packet = self
        times.begin = part * self.stride
        return times

    @property
    def node_in(self):
        return self.view(0)

    @property
    def node_start(self):
        return self.view(1)

    @property
    def link_in(self):
        return self.view(2)

    @property
    def link_start(self):
        return self.view(3)


cdef Packet new_packet(Transaction transaction, Path path, int64_t nbytes, int64_t flit_bytes):
    cdef Packet packet = <Packet?>PacketClass.__new__(PacketClass)
    packet.prepare(transaction, path, nbytes, flit_bytes)
    return packet
