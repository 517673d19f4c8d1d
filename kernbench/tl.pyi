"""Types of :mod:`kernbench.tl` for editors and type checkers; 'make docs' writes this file."""

from typing import Any, TypeAlias

from kernbench.language.tl import Language

_language: Language

constexpr: TypeAlias = Any
abs = _language.abs
add = _language.add
advance = _language.advance
arange = _language.arange
argmax = _language.argmax
argmin = _language.argmin
atomic_add = _language.atomic_add
bfloat16: str
bitwise_and = _language.bitwise_and
bitwise_not = _language.bitwise_not
bitwise_or = _language.bitwise_or
bitwise_xor = _language.bitwise_xor
broadcast_to = _language.broadcast_to
cast = _language.cast
cdiv = _language.cdiv
ceil = _language.ceil
clamp = _language.clamp
composite = _language.composite
cos = _language.cos
cumprod = _language.cumprod
cumsum = _language.cumsum
cycles = _language.cycles
device_count = _language.device_count
device_id = _language.device_id
device_print = _language.device_print
div = _language.div
dot = _language.dot
equal = _language.equal
erf = _language.erf
exp = _language.exp
exp2 = _language.exp2
float16: str
float32: str
float8e4nv: str
float8e5: str
floor = _language.floor
floordiv = _language.floordiv
fma = _language.fma
full = _language.full
greater = _language.greater
greater_equal = _language.greater_equal
int1: str
int32: str
int8: str
left_shift = _language.left_shift
less = _language.less
less_equal = _language.less_equal
load = _language.load
local_shape = _language.local_shape
log = _language.log
log2 = _language.log2
logical_not = _language.logical_not
make_block_ptr = _language.make_block_ptr
max = _language.max
maximum = _language.maximum
min = _language.min
minimum = _language.minimum
mod = _language.mod
mul = _language.mul
neg = _language.neg
not_equal = _language.not_equal
num_programs = _language.num_programs
pow = _language.pow
program_id = _language.program_id
range = _language.range
recv = _language.recv
recv_async = _language.recv_async
recv_no_consume = _language.recv_no_consume
ref = _language.ref
reshape = _language.reshape
right_shift = _language.right_shift
rsqrt = _language.rsqrt
send = _language.send
sigmoid = _language.sigmoid
sin = _language.sin
slice = _language.slice
softmax = _language.softmax
sqrt = _language.sqrt
static_assert = _language.static_assert
static_range = _language.static_range
store = _language.store
sub = _language.sub
sum = _language.sum
tanh = _language.tanh
trans = _language.trans
uint8: str
wait = _language.wait
where = _language.where
zeros = _language.zeros
