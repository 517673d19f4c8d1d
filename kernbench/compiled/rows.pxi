# The rows of a trace, as structs one after the other: kernbench.sim.rows.

cdef class Block:
    """Bytes that grow; read as a buffer."""

    cdef char* data
    cdef size_t used, room
    cdef int readers

    def __dealloc__(self):
        free(self.data)

    def __getbuffer__(self, Py_buffer* view, int flags):
        PyBuffer_FillInfo(view, self, self.data if self.data != NULL else <char*>"", self.used, 1, flags)
        self.readers += 1

    def __releasebuffer__(self, Py_buffer* view):
        self.readers -= 1

    cdef int add(self, void* data, size_t nbytes) except -1:
        cdef size_t room
        cdef char* grown
        if self.used + nbytes > self.room:
            if self.readers:
                raise BufferError("the rows of a trace are being read and cannot grow")
            room = max(self.used + nbytes, self.room + self.room // 2, 4096)
            grown = <char*>realloc(self.data, room)
            if grown == NULL:
                raise MemoryError
            self.data, self.room = grown, room
        memcpy(self.data + self.used, data, nbytes)
        self.used += nbytes
        return 0


cdef struct Numbers:
    int64_t id
    int64_t parent
    int64_t op
    int64_t launch
    int64_t nbytes
    int64_t hops
    double t_submit
    double t_done


cdef class Rows:
    """Transactions that have ended, their hops and waits; see the Python class."""

    cdef readonly list kind, src, dst, request
    cdef public Block numbers, hops, waits
    cdef readonly int64_t hop_count

    def __init__(self):
        self.kind, self.src, self.dst, self.request = [], [], [], []
        self.numbers, self.hops, self.waits = Block(), Block(), Block()

    def note(self, Transaction t not None):
        """``TraceRecorder.transaction_done``."""
        launch = None if t.message is None else getattr(t.message, "launch", None)
        self.take(t, -1 if launch is None else launch.id)

    cpdef int take(self, Transaction t, int64_t launch) except -1:
        cdef Numbers n
        cdef Py_ssize_t i, j, begin = 0, kept = 0
        cdef WaitC* w = t._waits
        self.kind.append(t.kind)
        self.src.append(t.src)
        self.dst.append(t.dst)
        self.request.append(t.ids[1])
        n.id, n.parent, n.op, n.launch, n.nbytes, n.hops = t.id, t.parent, t.op, launch, t.nbytes, t.n_hops
        n.t_submit, n.t_done = t.t_submit, t.t_done
        self.numbers.add(&n, sizeof(Numbers))
        if t.n_hops:
            self.hops.add(t._hops, t.n_hops * sizeof(HopC))
            self.hop_count += t.n_hops
        # Waits on one holder at one resource and hop are one row. Those of one hop stand together.
        for i in range(t.n_waits):
            if i and w[i].seq != w[kept - 1].seq:
                begin = kept
            for j in range(begin, kept):
                if w[j].holder == w[i].holder and w[j].resource == w[i].resource:
                    w[j].ns = w[j].ns + w[i].ns
                    w[j].holders = max(w[j].holders, w[i].holders)
                    w[j].t_from = min(w[j].t_from, w[i].t_from)
                    w[j].t_to = max(w[j].t_to, w[i].t_to)
                    break
            else:
                w[kept] = w[i]
                kept += 1
        if kept:
            self.waits.add(w, kept * sizeof(WaitC))
        t.forget()
