# Inside a PE: transactions begun and ended, accesses to a TCM, and the stages of a tile: kernbench.components.pe_*.

cdef class Step:
    """Something with steps of its own that lies in the event queue."""

    cdef int go(self, uint64_t number) except -1:
        raise NotImplementedError


cdef class Ledger:
    """``Machine.begin``, ``end``, ``report`` and ``next_op_id``."""

    cdef Clock clock
    cdef dict in_flight, worked
    cdef bint traced
    cdef int64_t transactions, ops
    cdef public tuple transaction_done, op_done, stage_done
    """Observers, without the machine's own LaunchTimes."""

    def __init__(self, Clock clock not None, dict in_flight not None, dict worked not None, bint traced):
        self.clock = clock
        self.in_flight = in_flight
        self.worked = worked
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
        cdef Transaction t = <Transaction?>TransactionClass.__new__(TransactionClass)
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


cdef class Tcm:
    """``PeTcm.access``."""

    cdef Server node
    cdef Ledger ledger
    cdef dict ways
    cdef list busy

    def __init__(self, Server node not None, Ledger ledger not None):
        self.node = node
        self.ledger = ledger
        self.ways = node._ways
        self.busy = node._busy_by_port

    def access(
        self, caller, op, int64_t nbytes, *, bint write, done, double gbs=INFINITY, double overhead_ns=0.0
    ):
        cdef Access step = Access.__new__(Access)
        step.ledger = self.ledger
        step.done = done
        step.begin(self, caller, op, nbytes, write, gbs, overhead_ns)


cdef class Access(Step):
    """One access to a TCM under way."""

    cdef Ledger ledger
    cdef Transaction transaction
    cdef double start
    cdef object done

    cdef int begin(
        self, Tcm tcm, object caller, object op, int64_t nbytes, bint write, double gbs, double overhead_ns
    ) except -1:
        cdef Server node = tcm.node, port
        cdef Clock clock = self.ledger.clock
        cdef double now = clock.time, own_gbs, duration, start, end, wait = 0.0, busy
        cdef Transaction transaction
        cdef tuple way = tcm.ways.get((caller, write))
        if way is None:
            way = node._way(caller, write)
        port = <Server?>way[2]
        own_gbs = way[3]
        transaction = self.ledger.open("tcm_write" if write else "tcm_read", <Path?>way[0], nbytes, now, op.id, write)
        op.transactions.append(transaction.id)
        duration = node.overhead_ns + overhead_ns + nbytes / (own_gbs if own_gbs < gbs else gbs)
        node.come(now)
        start = port.take(now, duration, transaction)
        (<Server?>way[1]).flow(start, nbytes)
        end = start + duration
        if start > now:
            wait = transaction.note_waits(node.index, port, now, start)
        busy = <double>tcm.busy[write] + duration
        tcm.busy[write] = busy
        node._busy_ns = busier(tcm.busy)
        node.go(end, nbytes, 0.0, wait)
        if transaction.traced:
            transaction.hop(node.index, now, start, end, end - now - wait, wait, nbytes)
        self.transaction = transaction
        self.start = start
        return clock.step_at(end, CALL, STEP, OVER, self)

    cdef int go(self, uint64_t number) except -1:
        self.ledger.close(self.transaction)
        self.done(self.start)
        return 0


cdef inline double busier(list both) except? -1.0:
    cdef double first = both[0], second = both[1]
    return first if first > second else second


cdef class Way:
    """From one part of a PE on to the part of the next stage."""

    cdef object component
    cdef Part part        # of the component, where the core does its stages
    cdef Server direct    # the link to it
    cdef Server read_link, write_link
    cdef double read_gbs, write_gbs


cdef class Part:
    """A part of a PE that carries out stages of tiles: what ``PeComponent`` has for it."""

    cdef Server node
    cdef Ledger ledger
    cdef Clock clock
    cdef object op_class
    cdef dict onward      # Way by the kind of the next stage

    def __init__(self, Server node not None, Ledger ledger not None, op_class):
        self.node = node
        self.ledger = ledger
        self.clock = ledger.clock
        self.op_class = op_class
        self.onward = {}

    def accept(self, token):
        self.take(token)

    cdef int take(self, object token) except -1:
        raise NotImplementedError

    cdef object record(self, object token, object stage):
        """``PeComponent.stage_op``."""
        kind = stage.kind
        op = token.op
        if op is None or not (kind == "GEMM" or kind == "MATH"):
            parent = token.parent
            op = self.op_class(self.ledger.ops, "tile", stage.name or kind.lower())
            self.ledger.ops += 1
            op.launch = token.launch
            op.parent = parent.id
            op.source = parent.source
            op.nbytes = stage.nbytes
        op.stage = kind
        hazard, before = "stage", token.previous
        if not before:
            hazard, before = "buffer", token.fed_by
        if before:
            after = op.after
            for number in before:
                after.append((number, hazard))
        token.previous = (op.id,)
        return op

    cdef int finish(
        self, object op, object token, bint works, double t_ready, double t_start, double t_end
    ) except -1:
        """``Component.finish``; ``works``: in the compute slot."""
        cdef Ledger ledger = self.ledger
        start, end = t_start, t_end
        op.component = self.node.resource
        op.t_ready = t_ready
        op.t_start = start
        op.t_end = end
        if works and t_end > t_start:
            launch = op.launch
            if launch >= 0:
                ledger.work(launch, op.component, start, end)
        for observer in ledger.op_done if op is token.op else ledger.stage_done:
            observer(op)
        return 0

    cdef Way way(self, object stage):
        """To the part that carries out ``stage``."""
        cdef Way way = Way.__new__(Way)
        way.component = self.node.sibling(stage.part)
        way.part = (<Server?>way.component).part
        if way.component is not self.node:
            link = self.node._direct.get(way.component)
            if link is None:
                link = self.node.system.link(self.node.resource, way.component.resource)
                self.node._direct[way.component] = link
            way.direct = <Server?>link
        self.onward[stage.kind] = way
        return way

    cdef int pass_on(self, object token, tuple stages, Py_ssize_t index) except -1:
        """The stage ``index`` is over."""
        cdef Way way
        cdef double now, over
        index += 1
        token.index = index
        if index == len(stages):
            token.done(token)
            return 0
        stage = stages[index]
        way = <Way>self.onward.get(stage.kind)
        if way is None:
            way = self.way(stage)
        if way.direct is None:
            return self.take(token)
        now = self.clock.time
        over = self.across(way, stages[index - 1], stage, now)
        if over > now:
            self.clock.call(
                over, CALL, (self.node.forward, (way.component, way.component.accept, token))
            )
            return 0
        return self.hand(way, token)

    cdef int hand(self, Way way, object token) except -1:
        """``Component.forward`` of a token."""
        way.direct.transactions += 1
        if way.direct.delay_ns > 0.0:
            self.clock.call(self.clock.time + way.direct.delay_ns, CALL, (way.component.accept, (token,)))
        elif way.part is not None:
            way.part.take(token)
        else:
            way.component.accept(token)
        return 0

    cdef double across(self, Way way, object fetched, object stored, double now) except? -1.0:
        """``PeComponent._data_across``."""
        cdef double nbytes, over
        cdef int64_t count
        if fetched.kind == "FETCH":
            count = fetched.nbytes
            if count:
                if way.read_link is None:
                    link, way.read_gbs = self.node._between(way.component, write=False)
                    way.read_link = <Server?>link
                nbytes = <double>count
                over = way.read_link.flow(now - nbytes / way.read_gbs, count)
                return over if way.read_link.bw_gbs < way.read_gbs and over > now else now
        if stored.kind == "STORE":
            count = stored.nbytes
            if count:
                if way.write_link is None:
                    link, way.write_gbs = self.node._between(way.component, write=True)
                    way.write_link = <Server?>link
                nbytes = <double>count
                over = way.write_link.flow(now, count) - nbytes / way.write_gbs
                return over if way.write_link.bw_gbs < way.write_gbs and over > now else now
        return now


cdef enum:
    OVER    # an access or a stage is over
    BEGIN   # the overhead is paid


cdef class FetchStore(Part):
    """``PeFetchStore``."""

    cdef Tcm tcm
    cdef list busy

    def __init__(self, Server node not None, Ledger ledger not None, op_class, Tcm tcm not None):
        Part.__init__(self, node, ledger, op_class)
        self.tcm = tcm
        self.busy = node.busy_by_direction
        node.part = self

    cdef int take(self, object token) except -1:
        cdef Moving step = Moving.__new__(Moving)
        cdef Server node = self.node
        cdef double ready = self.clock.time, after
        step.part = self
        step.token = token
        step.stages = token.plan.stages
        step.index = token.index
        step.stage = step.stages[step.index]
        step.op = self.record(token, step.stage)
        step.ready = ready
        node.come(ready)
        step.begun = node.take(ready, node.overhead_ns, step.op)
        after = step.begun + node.overhead_ns
        if after > ready:
            return self.clock.step_at(after, CALL, STEP, BEGIN, step)
        return step.move()


cdef class Moving(Access):
    """A stage of a tile that moves data between TCM and registers."""

    cdef FetchStore part
    cdef object token, op, stage
    cdef tuple stages
    cdef Py_ssize_t index
    cdef double ready, begun
    cdef bint write
    cdef int64_t nbytes

    cdef int move(self) except -1:
        self.write = self.stage.kind == "STORE"
        self.nbytes = self.stage.nbytes
        self.ledger = self.part.ledger
        return self.begin(self.part.tcm, self.part.node, self.op, self.nbytes, self.write, INFINITY, 0.0)

    cdef int go(self, uint64_t number) except -1:
        cdef FetchStore part = self.part
        cdef Server node = part.node
        cdef double now
        if number == BEGIN:
            return self.move()
        self.ledger.close(self.transaction)
        now = part.clock.time
        part.busy[self.write] = <double>part.busy[self.write] + (node.overhead_ns + now - self.start)
        node._busy_ns = busier(part.busy)
        node.go(now, self.nbytes, 0.0, self.begun - self.ready)
        part.finish(
            self.op, self.token, False, self.ready, self.begun if node.overhead_ns > 0.0 else self.start, now
        )  # fmt: skip
        return part.pass_on(self.token, self.stages, self.index)


cdef class Engine(Part):
    """``ComputeEngine``; how long a stage takes is asked of the component."""

    cdef Server slot

    def __init__(self, Server node not None, Ledger ledger not None, op_class, Server slot not None):
        Part.__init__(self, node, ledger, op_class)
        self.slot = slot
        node.part = self

    cdef int take(self, object token) except -1:
        cdef Working step = Working.__new__(Working)
        cdef Server node = self.node, slot = self.slot
        cdef double now = self.clock.time, duration, end
        step.part = self
        step.token = token
        step.stages = token.plan.stages
        step.index = token.index
        stage = step.stages[step.index]
        op = step.op = self.record(token, stage)
        duration = node.overhead_ns + <double>node.duration_ns(stage)
        if slot.free > now and isinstance(slot.holder, self.op_class):
            op.after.append((slot.holder.id, "slot"))
        step.ready = now
        step.start = slot.take(now, duration, op)
        end = step.start + duration
        node.come(now)
        node.go(end, 0, duration, step.start - now)
        return self.clock.step_at(end, CALL, STEP, OVER, step)


cdef class Working(Step):
    """A stage of a tile in the compute slot."""

    cdef Engine part
    cdef object token, op
    cdef tuple stages
    cdef Py_ssize_t index
    cdef double ready, start

    cdef int go(self, uint64_t number) except -1:
        self.part.finish(self.op, self.token, True, self.ready, self.start, self.part.clock.time)
        return self.part.pass_on(self.token, self.stages, self.index)


cdef enum:
    SUBMIT    # a command is at the scheduler
    SERVE     # the scheduler's overhead is paid


cdef class Dispatcher(Part):
    """From PE_CPU by way of PE_SCHEDULER to an engine, or to PE_IPCQ: ``PeCpu._dispatch`` and ``submit`` of both."""

    cdef Server cpu, link, queues, queues_link
    cdef object queue_commands, receive_class
    cdef object dispatch_in_python, serve_in_python, token_class, transfers, computing, math_class, math, gemm

    def __init__(
        self, Server scheduler not None, Ledger ledger not None, op_class, Server cpu not None, dispatch, serve,
        token_class, transfers, computing, math, gemm, Server queues, queue_commands,
    ):  # fmt: skip
        """``queues`` is PE_IPCQ, None where it is left to Python; ``queue_commands`` are Send and Receive.

        ``dispatch`` and ``serve`` are the Python methods, for commands of other classes than these."""
        Part.__init__(self, scheduler, ledger, op_class)
        self.cpu = cpu
        self.dispatch_in_python = dispatch
        self.serve_in_python = serve
        self.token_class = token_class
        self.transfers = transfers
        self.computing = computing
        self.math_class = computing[0]
        self.math = math
        self.gemm = gemm
        self.queues = queues
        self.queue_commands = queue_commands if queues is not None else ()
        self.receive_class = queue_commands[1]

    def dispatch(self, command):
        cdef Server cpu = self.cpu
        cdef Server link
        cdef Dispatched step
        cdef bint queued = False
        kind = type(command)
        if kind not in self.computing and kind not in self.transfers:
            if kind not in self.queue_commands:
                return self.dispatch_in_python(cpu, command)
            queued = True
        op = command.op
        op.launch = cpu._launch.id
        last, resumed_by = cpu._last_op, cpu._resumed_by
        if last >= 0:
            op.after.append((last, "issue"))
        if resumed_by != -1 and resumed_by != last:
            op.after.append((resumed_by, "wait"))
        if queued:
            if self.queues_link is None:
                self.queues_link = self.link_to(self.queues)
            link = self.queues_link
            step = Queued.__new__(Queued)
            step.node = self.queues
        else:
            if self.link is None:
                self.link = self.link_to(self.node)
            link = self.link
            cpu._blocked = True
            step = Dispatched.__new__(Dispatched)
            step.node = self.node
        step.by = self
        step.command = command
        step.op = op
        step.epoch = cpu._epoch
        link.transactions += 1
        if link.delay_ns > 0.0:
            self.clock.step_at(self.clock.time + link.delay_ns, CALL, STEP, SUBMIT, step)
        else:
            step.submit()
        return queued and kind is self.receive_class and command.completion is not None

    cdef Server link_to(self, Server part):
        link = self.cpu._direct.get(part)
        if link is None:
            link = self.cpu._direct[part] = self.cpu.system.link(self.cpu.resource, part.resource)
        return <Server?>link


cdef class Dispatched(Step):
    """A command on its way to PE_SCHEDULER, and beyond."""

    cdef Dispatcher by
    cdef Server node
    cdef object command, op, epoch
    cdef double submitted

    cdef int go(self, uint64_t number) except -1:
        return self.submit() if number == SUBMIT else self.serve()

    cdef int submit(self) except -1:
        """``PeScheduler.submit`` and ``PeIpcq.submit``."""
        cdef Server node = self.node
        cdef double now = self.by.clock.time, begun, after
        self.submitted = now
        begun = node.take(now, node.overhead_ns, self.op)
        after = begun + node.overhead_ns
        node.come(now)
        node.go(after, 0, node.overhead_ns, begun - now)
        if after > now:
            return self.by.clock.step_at(after, CALL, STEP, SERVE, self)
        return self.serve()

    cdef int serve(self) except -1:
        """``PeScheduler._dispatch``."""
        cdef Dispatcher by = self.by
        cdef Way way
        command, op = self.command, self.op
        kind = type(command)
        if kind in by.transfers:
            by.serve_in_python(by.node, command, self.over)
            return 0
        if kind is by.math_class:
            plan = by.math(op.name, command.elements, command.in_bytes, command.out_bytes)
        else:
            plan = by.gemm(command.m, command.k, command.n, command.in_bytes, command.out_bytes)
        token = by.token_class(plan, self.done, op, op)
        stage = plan.stages[0]
        way = <Way>by.onward.get(stage.kind)
        if way is None:
            way = by.way(stage)
        return by.hand(way, token)

    def over(self):
        self.by.cpu._command_done(self.op, self.epoch)

    def done(self, token):
        self.by.cpu._command_done(self.op, self.epoch)


cdef class Queued(Dispatched):
    """A send or receive on its way to PE_IPCQ."""

    cdef int serve(self) except -1:
        self.node._begin(self.command, self.over, self.submitted)
        return 0
