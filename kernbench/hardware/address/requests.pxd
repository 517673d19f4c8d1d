cdef class PhysicalRequest:
    cdef readonly object component, via, gathered
    cdef readonly long long pa, offset, nbytes, channel, burst_bytes, stride
    cdef readonly bint opens
