from kernbench.hardware.address.free_list cimport Block
from kernbench.language.handles cimport TensorHandle
from kernbench.language.scratch cimport Scratch
from kernbench.engine.program.computing cimport CallSite, Compute
from kernbench.engine.program.operations cimport Op, Operand, computed

cimport cython

cdef dict _SITES

cdef class Issuer:
    cdef public object _kernel, _current, _interrupted_in, _pe, _send, _data, _computed, _next_op_id, _races, _thread
    cdef public long long _launch
    cdef public Scratch _scratch
    cdef public bint _has_lines

    cpdef TensorHandle _handle(self, object argument, object value)
    @cython.locals(handles=list, key=list, place=Py_ssize_t, one=TensorHandle, site=CallSite, known=tuple)
    cpdef TensorHandle _elementwise(self, object name, tuple names, tuple given)
    @cython.locals(
        block=Block, operands=tuple, one=TensorHandle, number="long long", output=Operand, op=Op,
        made=TensorHandle,
    )
    cpdef TensorHandle _compute(self, CallSite site, list handles)

@cython.locals(known=tuple, lines=dict)
cdef object _line(object frame)
cdef object _guarded(
    Issuer issuer, object name, object method, tuple args, dict kwargs, object names, object row, tuple taken
)
cdef object _known_value(list handles, Op op)
