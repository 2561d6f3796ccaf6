"""`webwinnow.page._hashing` in plain Python."""

from __future__ import annotations

GOLDEN = 0x9E3779B97F4A7C15
ALL_BITS = (1 << 64) - 1
FNV_START, FNV_PRIME = 0xCBF29CE484222325, 0x100000001B3


def mixed(x: int) -> int:
    """The finaliser of MurmurHash3: each of the 64 bits of the result depends on all bits of x."""
    x ^= x >> 33
    x = x * 0xFF51AFD7ED558CCD & ALL_BITS
    x ^= x >> 33
    x = x * 0xC4CEB9FE1A85EC53 & ALL_BITS
    return x ^ (x >> 33)


def name_hash(name: str) -> int:
    """64-bit hash of a name, case included: FNV-1a over its code points, mixed."""
    value = FNV_START
    for character in name:
        value = (value ^ ord(character)) * FNV_PRIME & ALL_BITS
    return mixed(value)
