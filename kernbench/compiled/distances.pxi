# Dijkstra's algorithm: kernbench.routing.tables.

from cpython.buffer cimport PyBUF_C_CONTIGUOUS, PyBUF_FORMAT, PyBuffer_Release, PyObject_GetBuffer

cdef struct Reached:
    double distance
    int64_t at


cdef int whole_numbers(object array, Py_buffer* view) except -1:
    PyObject_GetBuffer(array, view, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT)
    if view.itemsize != 8 or view.ndim != 1 or view.format == NULL or view.format[0] not in (c'l', c'q'):
        PyBuffer_Release(view)
        raise TypeError("expected an array of 64-bit integers")
    return 0


def distances(indptr, columns, costs, Py_ssize_t start):
    """Distances from ``start`` over links that are given as the rows of a sparse matrix: bytes of doubles."""
    cdef Py_buffer a, b, c
    whole_numbers(indptr, &a)
    try:
        whole_numbers(columns, &b)
        try:
            whole_numbers(costs, &c)
            try:
                return reached(
                    <int64_t*>a.buf, a.len // 8 - 1, <int64_t*>b.buf, <int64_t*>c.buf, b.len // 8, c.len // 8, start
                )
            finally:
                PyBuffer_Release(&c)
        finally:
            PyBuffer_Release(&b)
    finally:
        PyBuffer_Release(&a)


cdef bytes reached(
    int64_t* indptr, Py_ssize_t size, int64_t* columns, int64_t* costs, Py_ssize_t links, Py_ssize_t n_costs,
    Py_ssize_t start,
):  # fmt: skip
    cdef Py_ssize_t i, waiting = 0, at, up, down
    cdef double distance, longer
    cdef double* found
    cdef Reached* heap
    cdef Reached last
    if not 0 <= start < size or links != n_costs or indptr[0] != 0 or indptr[size] != links:
        raise ValueError("rows, columns and costs do not belong together")
    for i in range(size):
        if indptr[i] > indptr[i + 1]:
            raise ValueError("rows that go backwards")
    for i in range(links):
        if not 0 <= columns[i] < size or costs[i] < 0:
            raise ValueError("a link to nowhere, or of negative cost")
    found = <double*>malloc(size * sizeof(double))
    heap = <Reached*>malloc((links + 1) * sizeof(Reached))  # each link is looked at once
    try:
        if found == NULL or heap == NULL:
            raise MemoryError
        for i in range(size):
            found[i] = INFINITY
        found[start] = 0.0
        heap[0].distance, heap[0].at = 0.0, start
        waiting = 1
        while waiting:
            distance, at = heap[0].distance, heap[0].at
            waiting -= 1
            if waiting:
                last = heap[waiting]
                up, down = 0, 1
                while down < waiting:
                    if down + 1 < waiting and heap[down + 1].distance < heap[down].distance:
                        down += 1
                    if not heap[down].distance < last.distance:
                        break
                    heap[up] = heap[down]
                    up = down
                    down = 2 * up + 1
                heap[up] = last
            if distance > found[at]:
                continue
            for i in range(indptr[at], indptr[at + 1]):
                longer = distance + costs[i]
                if longer < found[columns[i]]:
                    found[columns[i]] = longer
                    down = waiting
                    waiting += 1
                    while down > 0:
                        up = (down - 1) >> 1
                        if not longer < heap[up].distance:
                            break
                        heap[down] = heap[up]
                        down = up
                    heap[down].distance, heap[down].at = longer, columns[i]
        return (<char*>found)[:size * sizeof(double)]
    finally:
        free(found)
        free(heap)
