# Tables of routes to one destination: kernbench.routing.tables, no further than they are asked for.

cdef struct Reached:
    double distance
    int64_t at


cdef inline void push(Reached* heap, Py_ssize_t* waiting, double distance, int64_t at) noexcept:
    cdef Py_ssize_t down = waiting[0], up
    waiting[0] += 1
    while down > 0:
        up = (down - 1) >> 1
        if not distance < heap[up].distance:
            break
        heap[down] = heap[up]
        down = up
    heap[down].distance, heap[down].at = distance, at


cdef inline Reached pop(Reached* heap, Py_ssize_t* waiting) noexcept:
    cdef Reached first = heap[0], last
    cdef Py_ssize_t up = 0, down = 1
    waiting[0] -= 1
    if waiting[0]:
        last = heap[waiting[0]]
        while down < waiting[0]:
            if down + 1 < waiting[0] and heap[down + 1].distance < heap[down].distance:
                down += 1
            if not heap[down].distance < last.distance:
                break
            heap[up] = heap[down]
            up = down
            down = 2 * up + 1
        heap[up] = last
    return first


@cython.final
cdef class Links:
    """The links of a part by their targets, as the rows of a sparse matrix; arrays of 64-bit integers.

    ``sources`` and ``weights`` are per link, and ``numbers``, by which ``misalignment`` is indexed.
    """

    cdef Py_buffer views[4]
    cdef int held
    cdef Py_ssize_t size, count
    cdef int64_t* indptr
    cdef int64_t* sources
    cdef int64_t* weights
    cdef int64_t* numbers
    cdef int64_t highest

    def __init__(self, indptr, sources, weights, numbers):
        cdef Py_ssize_t i
        if self.held:
            raise TypeError("links are made once")
        self.highest = -1
        for i, array in enumerate((indptr, sources, weights, numbers)):
            whole_numbers(array, &self.views[i])
            self.held += 1
        self.indptr, self.sources = <int64_t*>self.views[0].buf, <int64_t*>self.views[1].buf
        self.weights, self.numbers = <int64_t*>self.views[2].buf, <int64_t*>self.views[3].buf
        self.size, self.count = self.views[0].len // 8 - 1, self.views[1].len // 8
        if self.size < 1 or self.views[2].len // 8 != self.count or self.views[3].len // 8 != self.count:
            raise ValueError("rows, sources, weights and numbers do not belong together")
        if self.indptr[0] != 0 or self.indptr[self.size] != self.count:
            raise ValueError("rows, sources, weights and numbers do not belong together")
        for i in range(self.size):
            if self.indptr[i] > self.indptr[i + 1]:
                raise ValueError("rows that go backwards")
        for i in range(self.count):
            if not 0 <= self.sources[i] < self.size or self.weights[i] < 0 or self.numbers[i] < 0:
                raise ValueError("a link from nowhere, or of negative weight or number")
            self.highest = max(self.highest, self.numbers[i])

    def __dealloc__(self):
        cdef int i
        for i in range(self.held):
            PyBuffer_Release(&self.views[i])

    def routes(self, Py_ssize_t start, Py_ssize_t upto, misalignment, int64_t scale):
        """Columns of a table to ``start``, as bytes: weight, order (doubles), link to take (32-bit integers).

        They hold for all that is no further than ``upto``; the rest is infinitely far. -1: for all there are.
        The fourth value says whether they hold for all.
        """
        cdef Py_buffer extra
        if not 0 <= start < self.size or not -1 <= upto < self.size:
            raise ValueError("no such component")
        whole_numbers(misalignment, &extra)
        try:
            if self.highest >= extra.len // 8:
                raise ValueError("a link without misalignment")
            return self.table(start, upto, <int64_t*>extra.buf, scale)
        finally:
            PyBuffer_Release(&extra)

    cdef tuple table(self, Py_ssize_t start, Py_ssize_t upto, int64_t* extra, int64_t scale):
        cdef Py_ssize_t i, waiting = 0, count = self.size, settled = 0, k
        cdef double far = INFINITY, longer
        cdef Reached one
        cdef int64_t source
        cdef double* weight = <double*>malloc(count * sizeof(double))
        cdef double* order = <double*>malloc(count * sizeof(double))
        cdef int32_t* taken = <int32_t*>malloc(count * sizeof(int32_t))
        cdef int64_t* near = <int64_t*>malloc(count * sizeof(int64_t))
        cdef Reached* heap = <Reached*>malloc((self.count + 1) * sizeof(Reached))  # each link is looked at once
        try:
            if weight == NULL or order == NULL or taken == NULL or near == NULL or heap == NULL:
                raise MemoryError
            for i in range(count):
                weight[i] = order[i] = INFINITY
                taken[i] = -1
            weight[start] = 0.0
            push(heap, &waiting, 0.0, start)
            while waiting and heap[0].distance <= far:
                one = pop(heap, &waiting)
                if one.distance > weight[one.at]:
                    continue
                near[settled] = one.at
                settled += 1
                if one.at == upto:
                    far = one.distance  # and all that is as far: links may have no length
                for i in range(self.indptr[one.at], self.indptr[one.at + 1]):
                    source, longer = self.sources[i], one.distance + self.weights[i]
                    if longer < weight[source]:
                        weight[source] = longer
                        push(heap, &waiting, longer, source)
            whole = waiting == 0
            while waiting:
                waiting -= 1
                if weight[heap[waiting].at] > far:
                    weight[heap[waiting].at] = INFINITY
            order[start] = 0.0
            push(heap, &waiting, 0.0, start)
            while waiting:
                one = pop(heap, &waiting)
                if one.distance > order[one.at]:
                    continue
                for i in range(self.indptr[one.at], self.indptr[one.at + 1]):
                    source = self.sources[i]
                    if weight[source] != self.weights[i] + weight[one.at]:
                        continue
                    longer = one.distance + (extra[self.numbers[i]] * scale + 1)
                    if longer < order[source]:
                        order[source] = longer
                        push(heap, &waiting, longer, source)
            for k in range(settled):
                for i in range(self.indptr[near[k]], self.indptr[near[k] + 1]):
                    source = self.sources[i]
                    if (
                        weight[source] == self.weights[i] + weight[near[k]]
                        and order[source] == (extra[self.numbers[i]] * scale + 1) + order[near[k]]
                        and (taken[source] < 0 or self.numbers[i] < taken[source])
                    ):
                        taken[source] = <int32_t>self.numbers[i]
            return (
                (<char*>weight)[:count * sizeof(double)],
                (<char*>order)[:count * sizeof(double)],
                (<char*>taken)[:count * sizeof(int32_t)],
                bool(whole),
            )
        finally:
            free(weight)
            free(order)
            free(taken)
            free(near)
            free(heap)


cdef int whole_numbers(object array, Py_buffer* view) except -1:
    PyObject_GetBuffer(array, view, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT)
    if view.itemsize != 8 or view.ndim != 1 or view.format == NULL or view.format[0] not in (c'l', c'q'):
        PyBuffer_Release(view)
        raise TypeError("expected an array of 64-bit integers")
    return 0
