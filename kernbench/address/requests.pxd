cdef class PhysicalRequest:
    cdef readonly object component, via
    cdef readonly long long pa, offset, nbytes, channel, burst_bytes, stride
    cdef readonly bint opens
