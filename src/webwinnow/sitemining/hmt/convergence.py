"""`Convergence`: when to stop learning."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise

from webwinnow.errors import SettingsError

__all__ = ["MOST_PASSES", "TOLERANCE", "Convergence"]

TOLERANCE = 1e-6
"""Delta of Sites 4.2, the convergence parameter, which the paper leaves without a value: nats a node (ours)."""
MOST_PASSES = 200
"""Passes over the trees at most (ours)."""
ROUNDING = 1e-9
"""A fall by this share of the objective is rounding."""


@dataclass(slots=True)
class Convergence:
    """Watches what learning raises, pass by pass: `history` holds the objective before each M-step.

    Done when a pass moves it by less than `tolerance` for each of `nodes`, or after `most` passes.
    """

    tolerance: float = TOLERANCE
    most: int = MOST_PASSES
    nodes: int = 1
    history: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        if not self.tolerance >= 0 or self.most < 1:
            raise SettingsError(f"tolerance {self.tolerance}, {self.most} passes: expected 0 or more, 1 or more")

    def report(self, objective: float) -> None:
        """Take what one more pass found."""
        self.history.append(objective)

    @property
    def gain(self) -> float:
        """What the last pass gained; infinite before the second."""
        return self.history[-1] - self.history[-2] if len(self.history) > 1 else float("inf")

    @property
    def converged(self) -> bool:
        """Whether the last pass moved next to nothing; a fall, which incremental EM may have, is no end."""
        return abs(self.gain) < self.tolerance * max(self.nodes, 1)

    @property
    def fell(self) -> bool:
        """Whether a pass ever lost more than rounding does: EM cannot, incremental EM may."""
        return any(after < before - ROUNDING * max(abs(before), 1.0) for before, after in pairwise(self.history))

    @property
    def done(self) -> bool:
        """Whether to stop."""
        return self.converged or len(self.history) >= self.most
