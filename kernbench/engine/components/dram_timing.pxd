cdef class Ticks:
    cdef readonly double tick_ns
    cdef readonly bint halves
    cdef readonly long long act_len, row_len, col_len, burst, read, write, rcd_read, rcd_write, ras, rc, rp, rtp, wtp
    cdef readonly long long ccd_s, ccd_l, ccd_r, rrd_s, rrd_l, faw, wtr_s, wtr_l, rtw, ppd, act_ref, pre_ref
    cdef readonly long long rfc, rfc_bank, rrefd_act, rrefd, rrd_ref, refi, refi_bank
