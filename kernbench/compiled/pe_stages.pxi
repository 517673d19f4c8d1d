# The stages of tiles in FETCH_STORE, GEMM and MATH: kernbench.components.pe_component and its classes.

cdef class Way:
    """From one part of a PE on to the part of the next stage."""

    cdef object component
    cdef Part part        # of the component, where the core does its stages
    cdef Link direct    # the link to it
    cdef Link read_link, write_link
    cdef double read_gbs, write_gbs


cdef class Part:
    """A part of a PE that carries out stages of tiles: what ``PeComponent`` has for it."""

    cdef FabricNode node
    cdef Ledger ledger
    cdef Clock clock
    cdef object op_class
    cdef dict onward      # Way by the kind of the next stage

    def __init__(self, FabricNode node not None, Ledger ledger not None, op_class):
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
        way.part = <Part>self.ledger.parts.get(way.component)
        if way.component is not self.node:
            link = self.node._direct.get(way.component)
            if link is None:
                link = self.node.system.link(self.node.resource, way.component.resource)
                self.node._direct[way.component] = link
            way.direct = <Link?>link
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
            self.clock.entries.put_call(over, (self.node.forward, (way.component, way.component.accept, token)))
            return 0
        return self.hand(way, token)

    cdef int hand(self, Way way, object token) except -1:
        """``Component.forward`` of a token."""
        way.direct.transactions += 1
        if way.direct.delay_ns > 0.0:
            self.clock.entries.put_call(self.clock.time + way.direct.delay_ns, (way.component.accept, (token,)))
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
                    way.read_link = <Link?>link
                nbytes = <double>count
                over = way.read_link.stream(now - nbytes / way.read_gbs, count)
                return over if way.read_link.bw_gbs < way.read_gbs and over > now else now
        if stored.kind == "STORE":
            count = stored.nbytes
            if count:
                if way.write_link is None:
                    link, way.write_gbs = self.node._between(way.component, write=True)
                    way.write_link = <Link?>link
                nbytes = <double>count
                over = way.write_link.stream(now, count) - nbytes / way.write_gbs
                return over if way.write_link.bw_gbs < way.write_gbs and over > now else now
        return now


cdef class FetchStore(Part):
    """``PeFetchStore``."""

    cdef Tcm tcm
    cdef list busy

    def __init__(self, FabricNode node not None, Ledger ledger not None, op_class, Tcm tcm not None):
        Part.__init__(self, node, ledger, op_class)
        self.tcm = tcm
        self.busy = node.busy_by_direction
        ledger.parts[node] = self

    cdef int take(self, object token) except -1:
        cdef Moving step = Moving.__new__(Moving)
        cdef FabricNode node = self.node
        cdef double ready = self.clock.time, after
        step.part = self
        step.token = token
        step.stages = token.plan.stages
        step.index = token.index
        step.stage = step.stages[step.index]
        step.op = self.record(token, step.stage)
        step.ready = ready
        node.arrive(ready)
        step.begun = node.occupy(ready, node.overhead_ns, step.op)
        after = step.begun + node.overhead_ns
        if after > ready:
            return self.clock.step_at(after, step, BEGIN)
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

    cpdef object go(self, long long number):
        cdef FetchStore part = self.part
        cdef FabricNode node = part.node
        cdef double now
        if number == BEGIN:
            return self.move()
        self.ledger.close(self.transaction)
        now = part.clock.time
        part.busy[self.write] = <double>part.busy[self.write] + (node.overhead_ns + now - self.start)
        node._busy_ns = busier(part.busy)
        node.leave(now, self.nbytes, 0.0, self.begun - self.ready)
        part.finish(
            self.op, self.token, False, self.ready, self.begun if node.overhead_ns > 0.0 else self.start, now
        )  # fmt: skip
        return part.pass_on(self.token, self.stages, self.index)


cdef class Engine(Part):
    """``ComputeEngine``; how long a stage takes is asked of the component."""

    cdef Server slot

    def __init__(self, FabricNode node not None, Ledger ledger not None, op_class, Server slot not None):
        Part.__init__(self, node, ledger, op_class)
        self.slot = slot
        ledger.parts[node] = self

    cdef int take(self, object token) except -1:
        cdef Working step = Working.__new__(Working)
        cdef FabricNode node = self.node
        cdef Server slot = self.slot
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
        step.start = slot.occupy(now, duration, op)
        end = step.start + duration
        node.arrive(now)
        node.leave(end, 0, duration, step.start - now)
        return self.clock.step_at(end, step, OVER)


cdef class Working(Step):
    """A stage of a tile in the compute slot."""

    cdef Engine part
    cdef object token, op
    cdef tuple stages
    cdef Py_ssize_t index
    cdef double ready, start

    cpdef object go(self, long long number):
        self.part.finish(self.op, self.token, True, self.ready, self.start, self.part.clock.time)
        return self.part.pass_on(self.token, self.stages, self.index)
