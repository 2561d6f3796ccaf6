"""How replicas are found, as one frozen object."""

from __future__ import annotations

from dataclasses import dataclass

from webwinnow.errors import SettingsError
from webwinnow.replicas.published import INTERVAL, PERCENTAGE

__all__ = ["REPLICA_METHODS", "SHINGLE_WORDS", "THRESHOLD", "ReplicaSettings"]

REPLICA_METHODS = ("modern", "published")
SHINGLE_WORDS = 3
"""Words in a shingle. `webwinnow experiment replicas` measures 1 to 5; 3 leaves the widest margin (in-sample)."""
THRESHOLD = 0.7
"""Pages that share so much of what the shorter one says are replicas. On the labelled pairs all replicas lie above and
all others far below; pages of shops that differ in a colour or a trim lie on both sides (docs/replicas.md)."""
TITLES_APART = 0.9
"""Two pages of one site under different titles are replicas only if they are so much alike in all they say."""
LEAST_WORDS = 10
"""A page with fewer words has no modern fingerprint: too many pages say just that."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplicaSettings:
    """How replicas are found.

    - `method`: `modern` (MinHash over shingles) or `published` (MD5 of the most frequent words, DocView 5).
    - `threshold`, `titles_apart`, `shingle_words`, `least_words`: for `modern`.
    - `percentage`, `interval`: for `published`.
    """

    method: str = "modern"
    threshold: float = THRESHOLD
    titles_apart: float = TITLES_APART
    shingle_words: int = SHINGLE_WORDS
    least_words: int = LEAST_WORDS
    percentage: float = PERCENTAGE
    interval: int = INTERVAL

    def __post_init__(self) -> None:
        if self.method not in REPLICA_METHODS:
            raise SettingsError(f"there is no fingerprint {self.method!r}; there are: {', '.join(REPLICA_METHODS)}")
        for name in ("threshold", "titles_apart", "percentage"):
            if not 0 < getattr(self, name) <= 1:
                raise SettingsError(f"{name} is {getattr(self, name)}: expected a number above 0, at most 1")
        for name in ("shingle_words", "least_words", "interval"):
            if getattr(self, name) < 1:
                raise SettingsError(f"{name} is {getattr(self, name)}: expected 1 or more")
