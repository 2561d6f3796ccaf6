"""64-bit hashing that the kernels share."""

from libc.stdint cimport uint64_t

cdef extern from *:
    """
    #define FNV_START 0xCBF29CE484222325ULL
    #define FNV_PRIME 0x100000001B3ULL
    #define GOLDEN 0x9E3779B97F4A7C15ULL
    """
    const uint64_t FNV_START  # FNV-1a, 64 bits
    const uint64_t FNV_PRIME
    const uint64_t GOLDEN  # 2^64 divided by the golden ratio


cdef inline uint64_t mixed(uint64_t x) noexcept nogil:
    """The finaliser of MurmurHash3: each bit of the result depends on all bits of x."""
    x ^= x >> 33
    x *= <uint64_t>0xFF51AFD7ED558CCD
    x ^= x >> 33
    x *= <uint64_t>0xC4CEB9FE1A85EC53
    return x ^ (x >> 33)


cdef inline uint64_t unmixed(uint64_t x) noexcept nogil:
    """The inverse of `mixed`: the same steps in reverse order, with the inverses of the factors modulo 2^64."""
    x ^= x >> 33
    x *= <uint64_t>0x9CB4B2F8129337DB
    x ^= x >> 33
    x *= <uint64_t>0x4F74430C22A54005
    return x ^ (x >> 33)
