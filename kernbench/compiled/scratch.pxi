# Blocks of a kernel's scratch: what kernbench.address.FreeList does for kernbench.kernels.scratch, on its own lists.

cdef object first_fit(list free, dict allocated, int64_t nbytes, int64_t align):
    """As ``FreeList.alloc`` does; None where no block is large enough."""
    cdef Py_ssize_t index
    cdef int64_t start, size, offset, rest
    cdef tuple block
    for index in range(len(free)):
        block = <tuple>free[index]
        size = block[1]
        if size < nbytes:
            continue
        start = block[0]
        offset = (start + align - 1) // align * align
        rest = start + size - (offset + nbytes)
        if rest < 0:
            continue
        if offset == start and rest:
            free[index] = (offset + nbytes, rest)
        elif offset == start:
            del free[index]
        else:
            free[index] = (start, offset - start)
            if rest:
                free.insert(index + 1, (offset + nbytes, rest))
        found = offset
        allocated[found] = nbytes
        return found
    return None


cdef bint give_back(list free, dict allocated, offset, int64_t nbytes) except -1:
    """As ``FreeList.free`` does; False where there is no such block."""
    cdef int64_t start = offset, end = start + nbytes, after, size
    cdef Py_ssize_t low = 0, high = len(free), middle
    cdef bint joined = False
    cdef tuple block
    held = allocated.get(offset)
    if held is None or <int64_t>held != nbytes:
        return False
    del allocated[offset]
    while low < high:
        middle = (low + high) // 2
        after = (<tuple>free[middle])[0]
        if after < start:
            low = middle + 1
        else:
            high = middle
    if low < len(free):
        block = <tuple>free[low]
        after = block[0]
        if after == end:
            size = block[1]
            end, joined = after + size, True
    if low > 0:
        block = <tuple>free[low - 1]
        after, size = block[0], block[1]
        if after + size == start:
            free[low - 1] = (after, end - after)
            if joined:
                del free[low]
            return True
    if joined:
        free[low] = (start, end - start)
    else:
        free.insert(low, (start, end - start))
    return True


cdef class ScratchBlock:
    """Bytes of scratch, given back when the last handle that uses them is gone."""

    cdef readonly object address
    cdef int64_t size
    cdef object owner
    cdef list free
    cdef dict allocated

    def __del__(self):
        if not give_back(self.free, self.allocated, self.address, self.size):
            self.owner.free(self.address, self.size)  # says what is wrong


def block_of(owner, list free not None, dict allocated not None, int64_t nbytes, int64_t align):
    """``nbytes`` (> 0) of ``owner``, a ``FreeList`` with these lists of what is free and what is not.

    None where no block is large enough.
    """
    address = first_fit(free, allocated, nbytes, align)
    if address is None:
        return None
    cdef ScratchBlock block = ScratchBlock.__new__(ScratchBlock)
    block.address = address
    block.size = nbytes
    block.owner = owner
    block.free = free
    block.allocated = allocated
    return block
