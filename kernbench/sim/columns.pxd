cdef class Doubles:
    cdef double* at
    cdef readonly Py_ssize_t size
    cpdef Doubles sized(self, Py_ssize_t size)

cdef class Block:
    cdef char* data
    cdef size_t used, room
    cdef int readers
    cdef int reserve(self, size_t nbytes) except -1
    cdef int append(self, void* data, size_t nbytes) except -1

cdef class Words(Block):
    cdef readonly Py_ssize_t width
    cpdef int integer(self, long long value) except -1
    cpdef int number(self, double value) except -1
    cpdef int pair(self, int first, int second) except -1
    cpdef int blank(self, Py_ssize_t count) except -1
    cpdef long long integer_at(self, Py_ssize_t place) except? -1
    cpdef int set_integer(self, Py_ssize_t place, long long value) except -1
    cpdef int set_number(self, Py_ssize_t place, double value) except -1
    cpdef int set_pair(self, Py_ssize_t place, int first, int second) except -1

cdef struct Hop:
    long long resource
    double t_in
    double t_start
    double t_out
    double service_ns
    double wait_ns
    long long nbytes

cdef struct Wait:
    long long of
    long long holder
    long long resource
    long long holders
    long long seq
    double ns
    double t_from
    double t_to

cdef struct Number:
    long long id
    long long parent
    long long op
    long long launch
    long long nbytes
    long long hops
    long long address
    long long channel
    double t_submit
    double t_done

cdef class Hops(Block):
    cdef readonly Py_ssize_t count
    cpdef int add(
        self, long long resource, double t_in, double t_start, double t_out, double service_ns, double wait_ns,
        long long nbytes,
    ) except -1
    cpdef int extend(self, Hops more) except -1

cdef class Waits(Block):
    cdef readonly Py_ssize_t count
    cpdef int add(
        self, long long of, long long holder, long long resource, long long holders, long long seq, double ns,
        double t_from, double t_to,
    ) except -1
    cpdef int extend_joined(self, Waits more) except -1

cdef class Numbers(Block):
    cpdef int add(
        self, long long id, long long parent, long long op, long long launch, long long nbytes, long long hops,
        long long address, long long channel, double t_submit, double t_done,
    ) except -1
