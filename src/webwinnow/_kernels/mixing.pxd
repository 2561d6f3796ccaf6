"""One mixing of 64 bits for all kernels."""

from libc.stdint cimport uint64_t


cdef inline uint64_t mixed(uint64_t x) noexcept:
    """The finaliser of MurmurHash3: each bit of the result depends on all bits of x."""
    x ^= x >> 33
    x *= <uint64_t>0xFF51AFD7ED558CCD
    x ^= x >> 33
    x *= <uint64_t>0xC4CEB9FE1A85EC53
    return x ^ (x >> 33)


cdef inline uint64_t unmixed(uint64_t x) noexcept:
    """What `mixed` made x of: its steps undone, last first, with the inverses of its factors modulo 2^64."""
    x ^= x >> 33
    x *= <uint64_t>0x9CB4B2F8129337DB
    x ^= x >> 33
    x *= <uint64_t>0x4F74430C22A54005
    return x ^ (x >> 33)
