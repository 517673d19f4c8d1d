# Commands from PE_CPU to the engine that carries them out: kernbench.components.pe_cpu and pe_scheduler.

cdef enum:
    SUBMIT    # a command is at the scheduler
    SERVE     # the scheduler's overhead is paid


cdef class Dispatcher(Part):
    """From PE_CPU by way of PE_SCHEDULER to an engine, or to PE_IPCQ: ``PeCpu._dispatch`` and ``submit`` of both."""

    cdef FabricNode cpu, queues
    cdef Link link, queues_link
    cdef object queue_commands, receive_class
    cdef object dispatch_in_python, serve_in_python, token_class, transfers, computing, math_class, math, gemm

    def __init__(
        self, FabricNode scheduler not None, Ledger ledger not None, op_class, FabricNode cpu not None, dispatch, serve,
        token_class, transfers, computing, math, gemm, FabricNode queues or None, queue_commands,
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
        cdef FabricNode cpu = self.cpu
        cdef Link link
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
            self.clock.step_at(self.clock.time + link.delay_ns, step, SUBMIT)
        else:
            step.submit()
        return queued and kind is self.receive_class and command.completion is not None

    cdef Link link_to(self, Server part):
        link = self.cpu._direct.get(part)
        if link is None:
            link = self.cpu._direct[part] = self.cpu.system.link(self.cpu.resource, part.resource)
        return <Link?>link


cdef class Dispatched(Step):
    """A command on its way to PE_SCHEDULER, and beyond."""

    cdef Dispatcher by
    cdef FabricNode node
    cdef object command, op, epoch
    cdef double submitted

    cpdef object go(self, long long number):
        return self.submit() if number == SUBMIT else self.serve()

    cdef int submit(self) except -1:
        """``PeScheduler.submit`` and ``PeIpcq.submit``."""
        cdef FabricNode node = self.node
        cdef double now = self.by.clock.time, begun, after
        self.submitted = now
        begun = node.occupy(now, node.overhead_ns, self.op)
        after = begun + node.overhead_ns
        node.arrive(now)
        node.leave(after, 0, node.overhead_ns, begun - now)
        if after > now:
            return self.by.clock.step_at(after, self, SERVE)
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
