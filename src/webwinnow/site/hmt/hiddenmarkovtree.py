"""`HiddenMarkovTree` and `HiddenMarkovTreeClassifier`, in the style of scikit-learn but without it."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from webwinnow.errors import InputError, SettingsError, check_range
from webwinnow.site.hmt.em import (
    MOST_PASSES,
    TOLERANCE,
    Convergence,
    ExpectedCounts,
    evidence_distinguishes,
    learn,
    split_trees,
    starting_parameters,
)
from webwinnow.site.hmt.inference import (
    beliefs,
    check_possible,
    evidence_of,
    known_states,
    likelihoods,
    viterbi_states,
)
from webwinnow.site.hmt.treemodel import PARAMETERS, Forest, Known, TreeParameters
from webwinnow.storage.arrays import Arrays, Held, checked
from webwinnow.storage.modelfile import ModelFormat, SavedModel

SMOOTHING = 0.01
"""Counts that are added to every parameter, so that unseen events stay possible (ours)."""
_ARRAYS = {
    "history": Held(("passes",), low=-np.inf),
    **PARAMETERS,
    **{f"counts_{name}": held for name, held in PARAMETERS.items()},
}
_SAVED = ("states", "symbols", "smoothing", "tolerance", "passes", "subsets", "starts", "seed")

Rule = Literal["map", "viterbi"]


@dataclass(eq=False)
class HiddenMarkovTree(SavedModel):
    """Hidden states at the nodes of trees, learned from observations (Sites, section 3).

    `states` is K; `symbols` the number of symbols, 0 if only evidence is observed. `smoothing` is added to every
    expected count. Learning stops when a pass gains less than `tolerance` nats per node, or after `passes`. With
    `subsets` above 1 `fit` is incremental EM over this many parts of the trees. If labels and evidence do not identify
    every state, `starts` random starts from `seed` are tried; `start` gives the first parameters instead.

    After `fit`: `parameters_`, `counts_` (expected, of all trees learned), `convergence_`.
    """

    states: int
    _: KW_ONLY
    symbols: int = 0
    smoothing: float = SMOOTHING
    tolerance: float = TOLERANCE
    passes: int = MOST_PASSES
    subsets: int = 1
    starts: int = 1
    seed: int = 0
    start: TreeParameters | None = None
    parameters_: TreeParameters = field(init=False, repr=False)
    counts_: ExpectedCounts = field(init=False, repr=False)
    convergence_: Convergence = field(init=False, repr=False)
    file_format: ClassVar[ModelFormat] = ModelFormat("hidden Markov tree", 2, "learn it again")

    @property
    def settings(self) -> dict[str, Any]:
        """The arguments of the constructor."""
        return {name: getattr(self, name) for name in (*_SAVED, "start")}

    @classmethod
    def of(cls, parameters: TreeParameters, **settings: Any) -> Self:
        """A model with known parameters."""
        model = cls(parameters.states, symbols=parameters.symbols, **settings)
        model.parameters_ = parameters
        model.counts_ = ExpectedCounts.constant(0.0, parameters.states, parameters.symbols)
        model.convergence_ = Convergence(model.tolerance, model.passes)
        return model

    # Learning

    def fit(self, forest: Forest, known: Known = None) -> Self:
        """Learn by EM. Nodes with known states are clamped to them and give the start: state k stays state k."""
        self._check_settings()
        labels = known_states(forest, known, self.states)
        parts = split_trees(forest, labels, self.subsets)
        held = ExpectedCounts.constant(self.smoothing, self.states, self.symbols)
        chance = np.random.default_rng(self.seed)
        best: float | None = None
        is_certain = evidence_distinguishes(forest) or np.isin(np.arange(self.states), labels).all()
        for _ in range(1 if self.start or is_certain else self.starts):
            start = self.start or starting_parameters(forest, labels, self.states, self.symbols, chance)
            convergence = Convergence(self.tolerance, self.passes, len(forest))
            parameters, counts = learn(parts, start, held, convergence)
            if best is None or convergence.history[-1] > best:
                best = convergence.history[-1]
                self.parameters_, self.counts_, self.convergence_ = parameters, counts, convergence
        return self

    def partial_fit(self, forest: Forest, known: Known = None) -> Self:
        """Learn from more trees, without the earlier ones: their expected counts are kept and do not change.

        That is one round of incremental EM with the new trees as one more part. Trees given twice count twice.
        """
        if not hasattr(self, "parameters_"):
            return self.fit(forest, known)
        self._check_settings()
        labels = known_states(forest, known, self.states)
        held = ExpectedCounts.constant(self.smoothing, self.states, self.symbols) + self.counts_
        convergence = Convergence(self.tolerance, self.passes, len(forest))
        parts = split_trees(forest, labels, self.subsets)
        self.parameters_, counts = learn(parts, self.parameters_, held, convergence)
        self.counts_, self.convergence_ = self.counts_ + counts, convergence
        return self

    # Prediction

    def predict(self, forest: Forest, known: Known = None, *, rule: Rule = "map") -> NDArray[np.int32]:
        """The state of each node: the most probable by itself (`map`, 7), or of all states jointly (`viterbi`)."""
        if rule == "map":
            states: NDArray[np.int32] = self.predict_proba(forest, known).argmax(axis=1).astype(np.int32)
            return states
        if rule != "viterbi":
            raise SettingsError(f"rule {rule!r}: expected 'map' or 'viterbi'")
        parameters = self._learned()
        return viterbi_states(forest, evidence_of(forest, known, parameters), parameters)[0]

    def predict_proba(self, forest: Forest, known: Known = None) -> NDArray[np.float64]:
        """The probability of each state at each node, given all observations in its tree (8)."""
        parameters = self._learned()
        return beliefs(forest, evidence_of(forest, known, parameters), parameters).posterior

    def score_trees(self, forest: Forest, known: Known = None) -> NDArray[np.float64]:
        """Log P(W | lambda) of each tree; minus infinity for one that cannot occur."""
        parameters = self._learned()
        return likelihoods(forest, evidence_of(forest, known, parameters), parameters)[0]

    def score(self, forest: Forest, known: Known = None) -> float:
        """Log P(W | lambda) of all trees together; with known states, of those too."""
        return float(self.score_trees(forest, known).sum())

    def sample(self, parent: ArrayLike, chance: np.random.Generator) -> tuple[Forest, NDArray[np.int32]]:
        """Sample states and symbols for trees of a given shape: the observed forest, and its hidden states."""
        parameters = self._learned()
        shape = Forest(parent)
        root = np.cumsum(parameters.root).tolist()
        rows = np.cumsum(parameters.transition, axis=1).tolist()
        states = np.zeros(len(shape), np.int32)
        drawn = chance.random(len(shape)).tolist()
        for u, above in enumerate(shape.parent.tolist()):
            row = root if above < 0 else rows[states[above]]
            states[u] = bisect_right(row, drawn[u] * row[-1])
        if not parameters.symbols:
            return shape, states
        shown = np.cumsum(parameters.emission, axis=1)
        shown /= shown[:, -1:]
        symbols = (shown[states] <= chance.random(len(shape))[:, None]).sum(axis=1)
        return Forest(shape.parent, symbols), states

    # Files

    def to_bytes(self) -> bytes:
        """The learned state as the bytes of a file. `start` is not kept."""
        return self.file_format.pack(self._about(), self._arrays())

    @classmethod
    def from_bytes(cls, data: bytes, name: str = "the model") -> Self:
        with cls.file_format.reading(data, name) as file:
            return cls._of(file.about, file.arrays)

    def _about(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in _SAVED}

    def _arrays(self, prefix: str = "") -> Arrays:
        parameters = self._learned()
        arrays: Arrays = {"history": np.array(self.convergence_.history)}
        for name in PARAMETERS:
            arrays |= {name: getattr(parameters, name), f"counts_{name}": getattr(self.counts_, name)}
        return {prefix + name: array for name, array in arrays.items()}

    @classmethod
    def _of(cls, about: dict[str, Any], arrays: Arrays, prefix: str = "") -> Self:
        """The model of `_about` and `_arrays`."""
        for name, value in about.items():
            if name not in _SAVED or type(value) not in (
                (int, float) if name in ("smoothing", "tolerance") else (int,)
            ):
                raise ValueError(f"{name} is {value!r}")
        model = cls(**about)
        model._check_settings()
        found = checked(arrays, _ARRAYS, prefix, states=model.states, symbols=model.symbols)
        model.parameters_ = TreeParameters(**{row: found[row] for row in PARAMETERS})
        model.counts_ = ExpectedCounts(*(found[f"counts_{row}"] for row in PARAMETERS))
        model.convergence_ = Convergence(model.tolerance, model.passes, history=found["history"].tolist())
        return model

    def _learned(self) -> TreeParameters:
        if not hasattr(self, "parameters_"):
            raise InputError("the model has not learned anything: call fit first, or HiddenMarkovTree.of(parameters)")
        return self.parameters_

    def _check_settings(self) -> None:
        check_range(self, "states", "subsets", "starts", "passes", least=1)
        check_range(self, "symbols", "smoothing", "tolerance", least=0)
        if self.start and (self.start.states, self.start.symbols) != (self.states, self.symbols):
            raise SettingsError("the start has other states or symbols than the model")


class HiddenMarkovTreeClassifier(SavedModel):
    """Classifies whole trees by maximum likelihood, the alternative of Sites 3.2: one model per class is learned from
    its trees, and a tree belongs to the class whose model gives it the highest likelihood. The states of different
    models are unrelated. `model` has the settings of the models.

    After `fit`: `classes_` in order, and `models_`, one for each.
    """

    file_format = ModelFormat("classifier of trees", 3, "learn it again")

    def __init__(self, model: HiddenMarkovTree) -> None:
        self.model = model
        self.classes_: NDArray[Any] = np.zeros(0, "U1")
        self.models_: list[HiddenMarkovTree] = []

    def fit(self, forest: Forest, labels: ArrayLike) -> Self:
        """Learn from trees and the class of each, in the order of `forest.roots`."""
        self.classes_, self.models_ = np.zeros(0, "U1"), []
        return self.partial_fit(forest, labels)

    def partial_fit(self, forest: Forest, labels: ArrayLike) -> Self:
        """Learn from more trees; new classes get new models."""
        given = np.asarray(labels)
        if given.shape != forest.roots.shape or given.dtype.kind not in "iuU" or not len(given):
            raise InputError(
                f"labels of shape {given.shape} and type {given.dtype} for {len(forest.roots)} trees: expected a whole "
                "number or a text for each"
            )
        models = dict(zip(self.classes_.tolist(), self.models_, strict=True))
        tree = forest.tree
        for name in np.unique(given).tolist():
            model = models.setdefault(name, HiddenMarkovTree(**self.model.settings))
            model.partial_fit(forest.at(np.flatnonzero((given == name)[tree])))
        self.classes_ = np.array(sorted(models))
        self.models_ = [models[name] for name in self.classes_.tolist()]
        return self

    def score_trees(self, forest: Forest) -> NDArray[np.float64]:
        """Log P(W | lambda_c) of each tree, one column per class."""
        self._check_learned()
        return np.stack([model.score_trees(forest) for model in self.models_], axis=1)

    def predict(self, forest: Forest) -> NDArray[Any]:
        """The class of each tree: arg max P(W | lambda_c); the first of equal ones."""
        found: NDArray[Any] = self.classes_[self.predict_proba(forest).argmax(axis=1)]
        return found

    def predict_proba(self, forest: Forest) -> NDArray[np.float64]:
        """The probability of each class for each tree, with equal priors."""
        found = self.score_trees(forest)
        check_possible(forest, found.max(axis=1))
        return np.exp(found - np.logaddexp.reduce(found, axis=1, keepdims=True))

    def to_bytes(self) -> bytes:
        self._check_learned()
        arrays: Arrays = {"classes": self.classes_}
        for number, model in enumerate(self.models_):
            arrays |= model._arrays(f"{number}_")
        return self.file_format.pack(self.models_[0]._about(), arrays)

    @classmethod
    def from_bytes(cls, data: bytes, name: str = "the classifier") -> Self:
        with cls.file_format.reading(data, name) as file:
            classes = file.arrays["classes"]
            if classes.ndim != 1 or classes.dtype.kind not in "iuU" or not len(classes):
                raise ValueError("it has no classes")
            models = [HiddenMarkovTree._of(file.about, file.arrays, f"{n}_") for n in range(len(classes))]
            found = cls(HiddenMarkovTree(**models[0].settings))
            found.classes_, found.models_ = classes, models
            return found

    def _check_learned(self) -> None:
        if not self.models_:
            raise InputError("the classifier has not learned anything: call fit first")
