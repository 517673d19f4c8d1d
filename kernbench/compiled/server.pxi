# FIFO servers: kernbench.sim.server. Nodes and links are servers too, so their numbers lie here as well.

DEF NAMED = 8      # HOLDERS_NAMED
DEF MOST_HELD = 16

cdef object Held


def register_held(held):
    """Name the named tuple of kernbench.sim.server."""
    global Held
    Held = held


cdef struct Run:
    double since
    double end

cdef struct Share:
    PyObject* holder   # a run's holder, which the list of holders keeps alive; NULL where the place is empty
    double ns
    Py_ssize_t runs
    Py_ssize_t walked  # scratch

cdef struct Hold:
    PyObject* holder
    double ns
    double t_from
    double t_to
    int64_t holders


cdef class Server:
    """One FIFO server with its use counted; see the Python class."""

    cdef public object resource
    cdef public Py_ssize_t index
    cdef public double free
    cdef public object holder
    cdef public double since
    cdef public int64_t bytes
    cdef double _busy_ns
    cdef public double wait_ns
    cdef public int64_t transactions
    cdef public int64_t max_queue
    cdef public int64_t _present
    # of a node
    cdef public double overhead_ns
    cdef Memory memory
    cdef Part part
    # of a memory
    cdef public double entry_ns, _burst_ns, _penalty_ns
    # of a link
    cdef public double bw_gbs, delay_ns, flit_ns
    cdef public int64_t streams, streamed_bytes
    cdef public double _stream_free
    # of a pseudo-channel: its last direction
    cdef public object writing
    # runs: a ring of ``room`` places, from ``head``
    cdef Run* runs
    cdef list holders
    cdef Py_ssize_t head, count, room
    # shares: an open hash table
    cdef Share* shares
    cdef Py_ssize_t places, sharers
    # times at which those present leave: a heap
    cdef double* ends
    cdef Py_ssize_t leaving, ends_room

    def __cinit__(self, *args, **named):
        self.index = -1

    def __init__(self, resource):
        self.resource = resource

    def __dealloc__(self):
        free(self.runs)
        free(self.shares)
        free(self.ends)

    @property
    def busy_ns(self):
        if self.memory is not None:
            self.memory.settle()
        return self._busy_ns

    @busy_ns.setter
    def busy_ns(self, double value):
        self._busy_ns = value

    @property
    def _runs(self):
        """Its runs, oldest first: a copy."""
        return [
            (self.runs[at].since, self.runs[at].end, self.holders[at])
            for at in [(self.head + i) & (self.room - 1) for i in range(self.count)]
        ]

    # -- serving ---------------------------------------------------------------------------------------

    def occupy(self, double time, double duration, owner):
        return self.take(time, duration, owner)

    def end_run(self, double end):
        self.end_holder(end)

    def forget_runs(self):
        self.forget()

    def waited_for(self, owner, double begin, double end):
        cdef Hold found[MOST_HELD]
        cdef int n = self.waits(<PyObject*>owner, begin, end, found)
        return [
            Held(<object>found[i].holder, found[i].ns, found[i].t_from, found[i].t_to, found[i].holders)
            for i in range(n)
        ]

    def arrive(self, double time):
        self.come(time)

    def leave(self, double time, int64_t nbytes, double busy_ns, double wait_ns):
        self.go(time, nbytes, busy_ns, wait_ns)

    def stream(self, double head, int64_t nbytes):
        return self.flow(head, nbytes)

    cdef double flow(self, double head, int64_t nbytes) except? -1.0:
        cdef double start = self._stream_free if self._stream_free > head else head
        cdef double end = start + nbytes / self.bw_gbs
        self._stream_free = end
        self.streams += 1
        self.streamed_bytes += nbytes
        self.come(start)
        self.go(end + self.delay_ns, nbytes, nbytes / self.bw_gbs, 0.0)
        return end

    cdef double take(self, double time, double duration, object owner) except? -1.0:
        cdef double begun = self.free
        if time >= begun:
            if self.count:
                self.forget()
            self.holder = owner
            self.since = time
            self.free = time + duration
            return time
        if self.holder is not owner:
            if self.count:
                self.drop(time)
            self.end_holder(begun)
            self.holder = owner
            self.since = begun
        self.free = begun + duration
        return begun

    cdef int end_holder(self, double end) except -1:
        cdef double since = self.since
        cdef Share* share
        cdef Py_ssize_t at
        if not end > since:
            return 0
        if self.count == self.room:
            self.grow_runs()
        at = (self.head + self.count) & (self.room - 1)
        self.runs[at].since = since
        self.runs[at].end = end
        self.holders[at] = self.holder
        self.count += 1
        share = self.share_of(<PyObject*>self.holder)
        if share == NULL:
            self.add_share(<PyObject*>self.holder, end - since)
        else:
            share.ns += end - since
            share.runs += 1
        return 0

    cdef int grow_runs(self) except -1:
        cdef Py_ssize_t room = 2 * self.room if self.room else 4
        cdef Py_ssize_t i, at
        cdef Run* runs = <Run*>malloc(room * sizeof(Run))
        if runs == NULL:
            raise MemoryError
        cdef list holders = [None] * room
        for i in range(self.count):
            at = (self.head + i) & (self.room - 1)
            runs[i] = self.runs[at]
            holders[i] = self.holders[at]
        free(self.runs)
        self.runs, self.holders, self.head, self.room = runs, holders, 0, room
        return 0

    cdef int forget(self) except -1:
        cdef Py_ssize_t i
        for i in range(self.count):
            self.holders[(self.head + i) & (self.room - 1)] = None
        self.head = self.count = 0
        if self.sharers:
            for i in range(self.places):
                self.shares[i].holder = NULL
            self.sharers = 0
        return 0

    cdef int drop(self, double time) except -1:
        """Forget the runs that ended by ``time``."""
        cdef Run* run
        cdef Share* share
        while self.count and self.runs[self.head].end <= time:
            run = &self.runs[self.head]
            share = self.share_of(<PyObject*>self.holders[self.head])
            share.ns -= run.end - run.since
            share.runs -= 1
            if not share.runs:
                self.remove_share(share)
            self.holders[self.head] = None
            self.head = (self.head + 1) & (self.room - 1)
            self.count -= 1
        return 0

    # -- shares ----------------------------------------------------------------------------------------

    cdef inline Py_ssize_t place_of(self, PyObject* holder) noexcept:
        return <Py_ssize_t>(((<uint64_t><uintptr_t>holder) * <uint64_t>0x9E3779B97F4A7C15) >> 33) & (self.places - 1)

    cdef Share* share_of(self, PyObject* holder) noexcept:
        cdef Py_ssize_t at
        if not self.sharers:
            return NULL
        at = self.place_of(holder)
        while self.shares[at].holder != NULL:
            if self.shares[at].holder == holder:
                return &self.shares[at]
            at = (at + 1) & (self.places - 1)
        return NULL

    cdef int add_share(self, PyObject* holder, double ns) except -1:
        cdef Py_ssize_t at, i, places
        cdef Share* old
        if 2 * (self.sharers + 1) > self.places:
            old, places = self.shares, self.places
            self.places = 2 * places if places else 8
            self.shares = <Share*>calloc(self.places, sizeof(Share))
            if self.shares == NULL:
                self.shares, self.places = old, places
                raise MemoryError
            for i in range(places):
                if old[i].holder != NULL:
                    at = self.place_of(old[i].holder)
                    while self.shares[at].holder != NULL:
                        at = (at + 1) & (self.places - 1)
                    self.shares[at] = old[i]
            free(old)
        at = self.place_of(holder)
        while self.shares[at].holder != NULL:
            at = (at + 1) & (self.places - 1)
        self.shares[at].holder = holder
        self.shares[at].ns = ns
        self.shares[at].runs = 1
        self.shares[at].walked = 0
        self.sharers += 1
        return 0

    cdef int remove_share(self, Share* share) noexcept:
        """Take it out, and move those behind it to where a search finds them."""
        cdef Py_ssize_t hole = share - self.shares
        cdef Py_ssize_t at = hole, home, mask = self.places - 1
        while True:
            at = (at + 1) & mask
            if self.shares[at].holder == NULL:
                break
            home = self.place_of(self.shares[at].holder)
            if ((at - home) & mask) >= ((at - hole) & mask):
                self.shares[hole] = self.shares[at]
                hole = at
        self.shares[hole].holder = NULL
        self.sharers -= 1
        return 0

    # -- waits -----------------------------------------------------------------------------------------

    cdef int waits(self, PyObject* owner, double begin, double end, Hold* out) except -1:
        """Who held it between ``begin`` and ``end``, oldest first; returns how many. See the Python class."""
        cdef Hold named[MOST_HELD]
        cdef int n = 0, k, i
        cdef double stop = end, own_walked = 0.0, since, until, start
        cdef Py_ssize_t step, others, at
        cdef PyObject* holder
        if self.count:
            self.drop(begin)
        if not self.count and <PyObject*>self.holder == owner:
            return 0
        step = 0 if self.holder is None else -1
        while step < self.count and not stop <= begin:
            if step < 0:
                since, until, holder = self.since, INFINITY, <PyObject*>self.holder
            else:
                at = (self.head + self.count - 1 - step) & (self.room - 1)
                since, until, holder = self.runs[at].since, self.runs[at].end, <PyObject*>self.holders[at]
            if since < stop:
                start = begin if begin > since else since
                if holder != owner:
                    k = 0
                    while k < n and named[k].holder != holder:
                        k += 1
                    if k == n and n == NAMED - 1:
                        others = self.others(owner, named, n, step if step > 0 else 0)
                        if others > 1:
                            self.rest(owner, begin, stop, own_walked, &out[0])
                            out[0].holders = others
                            for i in range(n):
                                out[1 + i] = named[n - 1 - i]
                            return n + 1
                    if k == n:
                        if n == MOST_HELD:
                            raise SystemError("more holders of a server than its shares tell of")
                        named[n].holder = holder
                        named[n].ns = stop - start
                        named[n].t_from = start
                        named[n].t_to = stop
                        named[n].holders = 1
                        n += 1
                    else:
                        named[k].ns = named[k].ns + stop - start
                        named[k].t_from = start
                stop = start
            if step >= 0 and holder == owner:
                own_walked += until - since
            step += 1
        for i in range(n):
            out[i] = named[n - 1 - i]
        return n

    cdef Py_ssize_t others(self, PyObject* owner, Hold* named, int n, Py_ssize_t walked) except -1:
        cdef Py_ssize_t over = 0, j, at
        cdef int k
        cdef Share* share
        cdef PyObject* holder
        if self.share_of(owner) != NULL:
            over += 1
        for k in range(n):
            if self.share_of(named[k].holder) != NULL:
                over += 1
        for j in range(walked):
            at = (self.head + self.count - 1 - j) & (self.room - 1)
            self.share_of(<PyObject*>self.holders[at]).walked += 1
        for j in range(walked):
            at = (self.head + self.count - 1 - j) & (self.room - 1)
            holder = <PyObject*>self.holders[at]
            share = self.share_of(holder)
            if not share.walked:
                continue  # counted already
            if holder != owner and share.walked == share.runs:
                k = 0
                while k < n and named[k].holder != holder:
                    k += 1
                if k == n:
                    over += 1
            share.walked = 0
        return self.sharers - over

    cdef int rest(self, PyObject* owner, double begin, double stop, double own_walked, Hold* out) except -1:
        cdef Share* mine = self.share_of(owner)
        cdef double own = mine.ns - own_walked if mine != NULL else 0.0
        cdef double since = self.runs[self.head].since
        cdef PyObject* oldest = <PyObject*>self.holders[self.head]
        cdef Py_ssize_t i = 0, at
        if oldest == owner:
            own -= begin - since
            while oldest == owner:
                i += 1
                at = (self.head + i) & (self.room - 1)
                since, oldest = self.runs[at].since, <PyObject*>self.holders[at]
        out.holder = oldest
        out.ns = stop - begin - own
        out.t_from = begin if begin > since else since
        out.t_to = stop
        return 0

    # -- counting --------------------------------------------------------------------------------------

    cdef int come(self, double time) except -1:
        cdef int64_t present = self._present + 1
        while self.leaving and self.ends[0] <= time:
            self.pop_end()
            present -= 1
        self._present = present
        self.transactions += 1
        if present > self.max_queue:
            self.max_queue = present
        return 0

    cdef int go(self, double time, int64_t nbytes, double busy_ns, double wait_ns) except -1:
        cdef Py_ssize_t at = self.leaving, up
        cdef double* ends
        if at == self.ends_room:
            ends = <double*>realloc(self.ends, (2 * self.ends_room if self.ends_room else 4) * sizeof(double))
            if ends == NULL:
                raise MemoryError
            self.ends = ends
            self.ends_room = 2 * self.ends_room if self.ends_room else 4
        self.leaving += 1
        ends = self.ends
        while at > 0:
            up = (at - 1) >> 1
            if not time < ends[up]:
                break
            ends[at] = ends[up]
            at = up
        ends[at] = time
        self.bytes += nbytes
        self._busy_ns += busy_ns
        self.wait_ns += wait_ns
        return 0

    cdef int pop_end(self) noexcept:
        cdef double* ends = self.ends
        cdef Py_ssize_t at = 0, down = 1, size
        cdef double last
        self.leaving -= 1
        size = self.leaving
        if size:
            last = ends[size]
            while down < size:
                if down + 1 < size and ends[down + 1] < ends[down]:
                    down += 1
                if not ends[down] < last:
                    break
                ends[at] = ends[down]
                at = down
                down = 2 * at + 1
            ends[at] = last
        return 0
