# Transactions and operations begun and ended, for kernbench.machine: its begin, end and report.

cdef enum:
    OVER    # an access or a stage is over
    BEGIN   # the overhead is paid


cdef class Ledger:
    """``Machine.begin``, ``end``, ``report`` and ``next_op_id``."""

    cdef Clock clock
    cdef dict in_flight, worked, parts
    cdef bint traced
    cdef int64_t transactions, ops
    cdef public tuple transaction_done, op_done, stage_done
    """Observers, without the machine's own LaunchTimes."""

    def __init__(self, Clock clock not None, dict in_flight not None, dict worked not None, bint traced):
        self.clock = clock
        self.in_flight = in_flight
        self.worked = worked
        self.parts = {}
        self.traced = traced
        self.transaction_done = self.op_done = self.stage_done = ()

    def begin(
        self, kind, Path path not None, int64_t nbytes, double t_submit, *, int64_t parent=-1, int64_t op=-1,
        int64_t address=0, int64_t channel=-1, bint is_write=False, message=None, ids=("", ""),
    ):  # fmt: skip
        cdef Transaction t = self.open(kind, path, nbytes, t_submit, op, is_write)
        t.parent = parent
        t.address = address
        t.channel = channel
        t.message = message
        t.ids = ids
        return t

    cdef Transaction open(self, kind, Path path, int64_t nbytes, double t_submit, int64_t op, bint is_write):
        cdef Transaction t = <Transaction>Transaction.__new__(Transaction)
        t.id = self.transactions
        t.kind = kind
        t.src = (<Server>path.nodes[0]).resource
        t.dst = (<Server>path.nodes[len(path.nodes) - 1]).resource
        t.nbytes = nbytes
        t.t_submit = t_submit
        t.t_done = -1.0
        t.path = path
        t.parent = -1
        t.op = op
        t.channel = -1
        t.is_write = is_write
        t.ids = NO_IDS
        t.traced = self.traced
        self.transactions += 1
        self.in_flight[t.id] = t
        return t

    def end(self, Transaction transaction not None):
        self.close(transaction)

    cdef int close(self, Transaction t) except -1:
        t.t_done = self.clock.time
        t.wait_ns = t.waited()
        del self.in_flight[t.id]
        for observer in self.transaction_done:
            observer(t)
        if t.on_done is not None:
            t.on_done(t)
        return 0

    def report(self, op):
        launch = op.launch
        if launch >= 0:
            t_start, t_end = op.t_start, op.t_end
            if t_end > t_start:
                stage = op.stage
                if not (stage == "FETCH" or stage == "STORE"):
                    self.work(launch, op.component, t_start, t_end)
        for observer in self.op_done:
            observer(op)

    cdef int work(self, object launch, object component, object t_start, object t_end) except -1:
        """``LaunchTimes.op_done``."""
        cdef tuple key = (launch, component)
        intervals = self.worked.get(key)
        if intervals is None:
            intervals = self.worked[key] = []
        (<list?>intervals).append((t_start, t_end))
        return 0

    def next_op_id(self):
        self.ops += 1
        return self.ops - 1


cdef object NO_IDS = ("", "")
