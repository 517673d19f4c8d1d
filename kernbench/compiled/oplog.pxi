# Rows of the op log, as structs until its columns take them: kernbench.replay.oplog.

DEF GATHERED = 4096  # rows that are kept as structs before the columns are extended

from cpython.dict cimport PyDict_GetItemWithError, PyDict_SetItem, PyDict_Size
from cpython.long cimport PyLong_AsLong

cdef struct OpRow:
    int64_t id
    int64_t launch
    int64_t parent
    int64_t nbytes
    double t_ready
    double t_start
    double t_end
    int32_t kind
    int32_t name
    int32_t stage
    int32_t component
    int32_t source
    int32_t label
    int64_t moved
    int64_t operand
    int64_t edge

cdef struct OperandRow:
    int64_t position
    int64_t handle
    int64_t address
    int32_t shape
    int32_t dtype
    int64_t regions

cdef struct RegionRow:
    int64_t addr
    int64_t nbytes

cdef struct EdgeRow:
    int64_t on
    int32_t hazard


cdef inline int32_t code_of(object codes, object key) except -1:
    """The number of a text; the next one when it is new."""
    cdef PyObject* found = PyDict_GetItemWithError(codes, key)
    cdef int32_t code
    if found != NULL:
        return <int32_t>PyLong_AsLong(<object>found)
    code = <int32_t>PyDict_Size(codes)
    PyDict_SetItem(codes, key, code)
    return code


@cython.final
cdef class OpRows:
    """What ``OpLog.append`` adds, until :meth:`gather` brings it into the log's columns."""

    cdef object kinds, names, stages, components, sources, labels, shapes, dtypes, hazards  # subclasses of dict
    cdef dict at, plain
    cdef tuple columns
    cdef object twice
    cdef Block ops, operands, regions, edges, moved
    cdef int64_t n_moved, n_operands, n_edges, n_regions

    def __init__(self, dict at not None, codes, columns, twice):
        """``codes`` and ``columns`` in the order of the structs; ``twice(op)`` raises for one that is there."""
        self.at = at
        (
            self.kinds, self.names, self.stages, self.components, self.sources, self.labels,
            self.shapes, self.dtypes, self.hazards,
        ) = codes  # fmt: skip
        for one in codes:
            if not isinstance(one, dict):
                raise TypeError(f"codes in {one!r}, which is no dict")
        self.columns = tuple(columns)
        if len(self.columns) != 27:
            raise ValueError(f"{len(self.columns)} columns of an op log")
        self.twice = twice
        self.plain = {}
        self.ops, self.operands, self.regions = Block(), Block(), Block()
        self.edges, self.moved = Block(), Block()

    def append(self, op, dependencies=()):
        self.add(op, dependencies)

    def append_stage(self, op):
        """Add a stage of a tile, with its own dependencies."""
        after = op.after
        self.add(op, after if len(after) < 2 else sorted({*after}))

    cdef int add(self, object op, object dependencies) except -1:
        cdef OpRow row
        cdef EdgeRow edge
        cdef int64_t one
        number = op.id
        if number in self.at:
            self.twice(op)
        if self.ops.used >= GATHERED * sizeof(OpRow):
            self.gather()
        row.id = number
        row.launch, row.parent, row.nbytes = op.launch, op.parent, op.nbytes
        row.t_ready, row.t_start, row.t_end = op.t_ready, op.t_start, op.t_end
        name = op.name
        row.kind = code_of(self.kinds, op.kind)
        row.name = code_of(self.names, name)
        row.stage = code_of(self.stages, op.stage)
        row.component = code_of(self.components, op.component)
        row.source = code_of(self.sources, op.source)
        inputs, output = op.inputs, op.output
        if output is None and not inputs:
            label = self.plain.get(name)
            if label is None:
                label = self.plain[name] = code_of(self.labels, (name, (), None, ""))
            row.label = label
        else:
            row.label = self.add_operands(name, inputs, output)
        transactions = op.transactions
        if transactions:
            for number in transactions if len(transactions) == 1 else dict.fromkeys(transactions):
                one = number
                self.moved.append(&one, sizeof(one))
                self.n_moved += 1
        for on, hazard in dependencies:
            edge.on = on
            edge.hazard = code_of(self.hazards, hazard)
            self.edges.append(&edge, sizeof(edge))
            self.n_edges += 1
        row.moved, row.operand, row.edge = self.n_moved, self.n_operands, self.n_edges
        self.ops.append(&row, sizeof(row))
        self.at[op.id] = len(self.at)
        return 0

    cdef int32_t add_operands(self, name, inputs, output) except -1:
        """Rows of an operation's operands; returns the code of its label."""
        cdef int64_t position = 0
        cdef list shapes = []
        for operand in inputs:
            shapes.append(self.add_operand(position, operand))
            position += 1
        if output is None:
            return code_of(self.labels, (name, tuple(shapes), None, ""))
        shape = self.add_operand(-1, output)
        return code_of(self.labels, (name, tuple(shapes), shape, output.dtype))

    cdef object add_operand(self, int64_t position, object operand):
        cdef OperandRow row
        cdef RegionRow region
        for addr, nbytes in operand.regions:
            region.addr, region.nbytes = addr, nbytes
            self.regions.append(&region, sizeof(region))
            self.n_regions += 1
        handle, address, shape = operand.handle, operand.address, operand.shape
        row.position = position
        row.handle = -1 if handle is None else <int64_t>handle
        row.address = -1 if address is None else <int64_t>address
        row.shape = code_of(self.shapes, shape)
        row.dtype = code_of(self.dtypes, operand.dtype)
        row.regions = self.n_regions
        self.operands.append(&row, sizeof(row))
        self.n_operands += 1
        return shape

    def gather(self):
        """Bring the rows into the columns."""
        cdef OpRow* op = <OpRow*>self.ops.data
        cdef OperandRow* operand = <OperandRow*>self.operands.data
        cdef RegionRow* region = <RegionRow*>self.regions.data
        cdef EdgeRow* edge = <EdgeRow*>self.edges.data
        cdef size_t count = self.ops.used // sizeof(OpRow)
        if not count:
            return
        self.extend(0, <char*>&op.id, sizeof(OpRow), count)
        self.extend(1, <char*>&op.launch, sizeof(OpRow), count)
        self.extend(2, <char*>&op.parent, sizeof(OpRow), count)
        self.extend(3, <char*>&op.nbytes, sizeof(OpRow), count)
        self.extend(4, <char*>&op.t_ready, sizeof(OpRow), count)
        self.extend(5, <char*>&op.t_start, sizeof(OpRow), count)
        self.extend(6, <char*>&op.t_end, sizeof(OpRow), count)
        self.extend(7, <char*>&op.kind, sizeof(OpRow), count)
        self.extend(8, <char*>&op.name, sizeof(OpRow), count)
        self.extend(9, <char*>&op.stage, sizeof(OpRow), count)
        self.extend(10, <char*>&op.component, sizeof(OpRow), count)
        self.extend(11, <char*>&op.source, sizeof(OpRow), count)
        self.extend(12, <char*>&op.label, sizeof(OpRow), count)
        self.extend(13, <char*>&op.moved, sizeof(OpRow), count)
        self.extend(14, <char*>&op.operand, sizeof(OpRow), count)
        self.extend(15, <char*>&op.edge, sizeof(OpRow), count)
        count = self.operands.used // sizeof(OperandRow)
        if count:
            self.extend(16, <char*>&operand.position, sizeof(OperandRow), count)
            self.extend(17, <char*>&operand.handle, sizeof(OperandRow), count)
            self.extend(18, <char*>&operand.address, sizeof(OperandRow), count)
            self.extend(19, <char*>&operand.shape, sizeof(OperandRow), count)
            self.extend(20, <char*>&operand.dtype, sizeof(OperandRow), count)
            self.extend(21, <char*>&operand.regions, sizeof(OperandRow), count)
        count = self.regions.used // sizeof(RegionRow)
        if count:
            self.extend(22, <char*>&region.addr, sizeof(RegionRow), count)
            self.extend(23, <char*>&region.nbytes, sizeof(RegionRow), count)
        count = self.edges.used // sizeof(EdgeRow)
        if count:
            self.extend(24, <char*>&edge.on, sizeof(EdgeRow), count)
            self.extend(25, <char*>&edge.hazard, sizeof(EdgeRow), count)
        if self.moved.used:
            self.extend(26, self.moved.data, sizeof(int64_t), self.moved.used // sizeof(int64_t))
        for block in (self.ops, self.operands, self.regions, self.edges, self.moved):
            (<Block>block).used = 0

    cdef int extend(self, int number, char* first, size_t stride, size_t count) except -1:
        """Append a member of ``count`` structs to column ``number``."""
        column = self.columns[number]
        cdef size_t size = column.itemsize, i
        cdef bytes content = PyBytes_FromStringAndSize(NULL, count * size)
        cdef char* to = PyBytes_AS_STRING(content)
        if size == 8:
            for i in range(count):
                memcpy(to + i * 8, first + i * stride, 8)
        elif size == 4:
            for i in range(count):
                memcpy(to + i * 4, first + i * stride, 4)
        else:
            raise TypeError(f"an op log's column of items of {size} bytes")
        column.frombytes(content)
        return 0
