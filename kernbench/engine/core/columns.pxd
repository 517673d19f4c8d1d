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

cdef struct Wait:  # the fields of WAITS
    long long of
    long long holder
    long long resource
    double ns
    long long holders
    long long seq
    double t_from
    double t_to

cdef class Rows(Block):
    cdef readonly Py_ssize_t count
    cdef char* place(self, size_t nbytes) except NULL
    cpdef int extend(self, Rows more) except -1

cdef class Hops(Rows):
    cpdef int add(
        self, long long resource, double t_in, double t_start, double t_out, double service_ns, double wait_ns,
        long long nbytes,
    ) except -1

cdef class Waits(Rows):
    cpdef int add(
        self, long long of, long long holder, long long resource, double ns, long long holders, long long seq,
        double t_from, double t_to,
    ) except -1
    cpdef int extend_joined(self, Waits more) except -1

cdef class Numbers(Rows):
    cpdef int add(
        self, long long id, long long parent, long long op, long long launch, long long nbytes, long long hops,
        long long address, long long channel, double t_submit, double t_done,
    ) except -1
