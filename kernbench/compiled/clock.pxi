# Simulated time: kernbench.sim.clock. Its Python class adds SimPy's events.

DEF REPORT_EVERY = 1 << 16


cdef class Clock:
    """The queue and the loop over it; ``kernbench.sim.engine.CompiledClock`` is the whole clock."""

    cdef readonly Queue entries
    cdef double time
    cdef int64_t number
    cdef bint begun
    cdef bint touched     # something in Python has run, so the goal may have been reached
    cdef Fabric fabric
    cdef public object on_flit, on_progress
    cdef public int64_t events
    cdef public double max_ns, max_events
    cdef public bint _interrupted
    cdef public int64_t patience, _scheduled

    def __cinit__(self, *args, **named):
        self.entries = Queue()
        self.max_ns = self.max_events = INFINITY

    @property
    def now(self):
        return self.time if self.begun else 0

    @property
    def _now(self):
        return self.time if self.begun else 0

    def call_at(self, double time, function, *args):
        self.call(time, CALL, (function, args))

    def leave_at(self, double time, function, *args):
        self.call(time, LATE, (function, args))

    def event_at(self, double time, int priority, event, *, bint first=False):
        """Put an event of SimPy's into the queue; ``first``: before all others of that time and priority."""
        if not 0 <= priority < 1 << 15:
            raise ValueError(f"a SimPy event of priority {priority}, expected 0 or more")
        self._scheduled += 1
        if first:
            self.entries.push(time, priority, -1, 0, PYTHON, event)
        else:
            self.entries.push(time, priority, self.next(), 0, PYTHON, event)

    cdef int64_t next(self) noexcept:
        self.number += 1
        return self.number

    cdef int call(self, double time, int order, tuple what) except -1:
        return self.entries.push(time, order, self.next(), 0, PYTHON, what)

    cdef int step_at(self, double time, int order, int what, uint64_t minor, object item) except -1:
        return self.entries.push(time, order, self.next(), minor, what, item)

    def step(self):
        cdef Entry e
        if not self.entries.size:
            self._empty()
        item = self.entries.pop(&e)
        self.carry_out(&e, item)

    cdef int carry_out(self, Entry* e, object item) except -1:
        self.time = e.time
        self.begun = True
        self.events += 1
        if e.order == FLIT:
            return self.fabric.arrive(e.time, e.minor, <Packet?>item)
        if e.what == PYTHON:
            self.touched = True
            if e.order < 0:
                (<tuple?>item)[0](*(<tuple?>item)[1])
            else:
                self._scheduled -= 1
                self._carry_event(e.time, item)
            return 0
        if e.what == STEP:
            self.touched = True
            return (<Step?>item).go(e.minor)
        cdef Packet packet = <Packet?>item
        if e.what == DEPART:
            return self.fabric.depart(e.minor, packet)
        if e.what == INJECT:
            return self.fabric.inject(packet, <Py_ssize_t>e.minor)
        if e.what == ACKNOWLEDGE:
            return (<Server>packet.path.nodes[packet.path.hops]).memory.acknowledge(
                self.fabric, packet
            )
        self.touched = True
        packet.path.nodes[<Py_ssize_t>e.minor].receive(packet)
        return 0

    def next_time(self):
        """When the next entry is due; infinity when there is none."""
        return self.entries.heap[0].time if self.entries.size else INFINITY

    def advance(self, goal):
        cdef int64_t pending = 0, turns = 0, alone = 0
        cdef bint ticked = True
        cdef Entry e
        cdef Queue queue = self.entries
        cdef Fabric fabric = self.fabric
        # A goal that works out whether it is reached may see that time has passed.
        cdef bint asked = hasattr(getattr(type(goal), "done", None), "__get__")
        self.touched = True
        try:
            while True:
                if self.touched or asked:
                    if goal.done:
                        return True
                    self.touched = False
                if ticked:
                    alone = alone + 1 if queue.size == self._scheduled else 0
                    if alone and (alone > self.patience or self.idle()):
                        return False
                elif not queue.size:
                    return False
                turns += 1
                if not turns & 1023:
                    PyErr_CheckSignals()
                    with nogil:  # let other threads run
                        pass
                item = queue.pop(&e)
                ticked = e.order >= 0
                if e.order == FLIT:
                    self.time = e.time
                    self.begun = True
                    pending += 1
                    fabric.arrive(e.time, e.minor, <Packet?>item)
                else:
                    if self._interrupted:
                        raise KeyboardInterrupt
                    if e.time > self.max_ns or self.events + pending >= self.max_events:
                        queue.push(e.time, e.order, e.major, e.minor, e.what, item)
                        raise self._beyond(e.time)
                    self.carry_out(&e, item)
                if pending >= REPORT_EVERY:
                    self.events += pending
                    pending = 0
                    if self.time > self.max_ns or self.events >= self.max_events:
                        raise self._beyond(self.time)
                    if self.on_progress is not None:
                        self.touched = True
                        self.on_progress(self.time, self.events)
        finally:
            self.events += pending
