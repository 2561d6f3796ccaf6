"""`HiddenMarkovTree` and `HiddenMarkovTreeClassifier`, in the style of scikit-learn."""

from __future__ import annotations

import io
import json
import zipfile
from bisect import bisect_right
from pathlib import Path
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from webwinnow.arrays import NOT_ARRAYS, packed_arrays, read_array
from webwinnow.errors import InputError, ModelError, SettingsError
from webwinnow.sitemining.hmt.em import (
    MOST_PASSES,
    TOLERANCE,
    Convergence,
    ExpectedCounts,
    learn,
    needs_no_random_start,
    split_trees,
    starting_parameters,
)
from webwinnow.sitemining.hmt.inference import (
    beliefs,
    evidence_of,
    known_states,
    likelihoods,
    map_states,
    viterbi_states,
)
from webwinnow.sitemining.hmt.treemodel import Forest, Known, TreeParameters
from webwinnow.storage import write_file

SMOOTHING = 0.01
"""ExpectedCounts that are added to every parameter, so that what was never seen stays possible (ours)."""
FORMAT_VERSION = 1
KIND = "hidden Markov tree"
LARGEST_COLUMN = 400_000_000
"""Bytes of one array of a model file."""
_ROWS = ("root", "transition", "emission")

Rule = Literal["map", "viterbi"]


class HiddenMarkovTree:
    """Hidden states at the nodes of trees, learned from what is observed (Sites, section 3).

    `states` is K; `symbols` the number of symbols, 0 where only evidence is observed. `smoothing` is added to every
    expected count. Learning stops when a pass gains less than `tolerance` nats a node, or after `passes`. With
    `subsets` above 1 `fit` is incremental EM over so many parts of the trees. `starts` random starts are tried where
    some state is not told by labels or evidence, drawn from `seed`; `start` gives the parameters to start from instead.

    After `fit`: `parameters_`, `counts_` (expected, of all trees learned), `convergence_`.
    """

    def __init__(
        self,
        states: int,
        *,
        symbols: int = 0,
        smoothing: float = SMOOTHING,
        tolerance: float = TOLERANCE,
        passes: int = MOST_PASSES,
        subsets: int = 1,
        starts: int = 1,
        seed: int = 0,
        start: TreeParameters | None = None,
    ) -> None:
        self.states = states
        self.symbols = symbols
        self.smoothing = smoothing
        self.tolerance = tolerance
        self.passes = passes
        self.subsets = subsets
        self.starts = starts
        self.seed = seed
        self.start = start

    @property
    def settings(self) -> dict[str, Any]:
        """What the constructor was given."""
        names = "states symbols smoothing tolerance passes subsets starts seed start".split()
        return {name: getattr(self, name) for name in names}

    @classmethod
    def of(cls, parameters: TreeParameters, **settings: Any) -> Self:
        """A model whose parameters are known, not learned."""
        model = cls(parameters.states, symbols=parameters.symbols, **settings)
        model.parameters_ = parameters
        model.counts_ = ExpectedCounts.constant(0.0, parameters.states, parameters.symbols)
        model.convergence_ = Convergence(model.tolerance, model.passes)
        return model

    # Learning

    def fit(self, forest: Forest, known: Known = None) -> Self:
        """Learn by EM. Nodes whose state is known are clamped to it and give the start: state k stays state k."""
        self._check_settings()
        labels = known_states(forest, known, self.states)
        parts = split_trees(forest, labels, self.subsets)
        held = ExpectedCounts.constant(self.smoothing, self.states, self.symbols)
        chance = np.random.default_rng(self.seed)
        best: float | None = None
        for _ in range(1 if self.start or needs_no_random_start(forest, labels, self.states) else self.starts):
            start = self.start or starting_parameters(forest, labels, self.states, self.symbols, chance)
            convergence = Convergence(self.tolerance, self.passes, len(forest))
            parameters, counts = learn(parts, start, held, convergence)
            if best is None or convergence.history[-1] > best:
                best = convergence.history[-1]
                self.parameters_, self.counts_, self.convergence_ = parameters, counts, convergence
        return self

    def partial_fit(self, forest: Forest, known: Known = None) -> Self:
        """Learn from more trees, without the earlier ones: their expected counts are kept and stay as they are.

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
        self.counts_ = self.counts_ + counts
        self.convergence_ = convergence
        return self

    # What it says of trees

    def predict(self, forest: Forest, known: Known = None, *, rule: Rule = "map") -> NDArray[np.int32]:
        """The state of each node: the likeliest by itself (`map`, 7), or of all states together (`viterbi`)."""
        if rule == "map":
            return map_states(self.predict_proba(forest, known))
        if rule != "viterbi":
            raise SettingsError(f"rule {rule!r}: expected 'map' or 'viterbi'")
        parameters = self._learned()
        return viterbi_states(forest, evidence_of(forest, known, parameters), parameters)[0]

    def predict_proba(self, forest: Forest, known: Known = None) -> NDArray[np.float64]:
        """The probability of each state at each node, given all that is observed in its tree (8)."""
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
        """Draw states and symbols for trees of a given shape: the forest that is seen, and its hidden states."""
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

    # To and from bytes

    def to_bytes(self) -> bytes:
        """What was learned as a `.npz` archive; the same gives the same bytes. `start` is not kept."""
        parameters = self._learned()
        told = self.settings | {"kind": KIND, "format_version": FORMAT_VERSION}
        del told["start"]
        about = np.frombuffer(json.dumps(told, sort_keys=True).encode(), np.uint8)
        columns: dict[str, NDArray[Any]] = {"about": about, "history": np.array(self.convergence_.history)}
        for name in _ROWS:
            columns |= {name: getattr(parameters, name), f"counts_{name}": getattr(self.counts_, name)}
        return packed_arrays(columns)

    @classmethod
    def from_bytes(cls, data: bytes, name: str = "the model") -> Self:
        """Read what `to_bytes` wrote; everything in it is checked. Raises `ModelError`."""
        try:
            with zipfile.ZipFile(io.BytesIO(data)) as archive:
                about = json.loads(bytes(read_array(archive, "about", LARGEST_COLUMN)))
                version = about.pop("format_version")
                if about.pop("kind") != KIND:
                    raise ValueError("it holds something else")
                if version != FORMAT_VERSION:
                    raise ModelError(
                        f"{name} has format {version}, this webwinnow reads {FORMAT_VERSION}; learn it again"
                    )
                columns = {
                    column: _floats(read_array(archive, column, LARGEST_COLUMN), column)
                    for column in ("history", *_ROWS, *(f"counts_{row}" for row in _ROWS))
                }
            model = cls(**_typed(about))
            model._check_settings()
            if columns["history"].ndim != 1:
                raise ValueError("its history is no row of numbers")
            convergence = Convergence(model.tolerance, model.passes, history=columns["history"].tolist())
            parameters = TreeParameters(**{row: columns[row] for row in _ROWS})
            counts = ExpectedCounts(*(columns[f"counts_{row}"] for row in _ROWS))
            if (parameters.states, parameters.symbols) != (model.states, model.symbols):
                raise ValueError("states or symbols differ from the settings")
            for row in _ROWS:
                if (
                    getattr(counts, row).shape != getattr(parameters, row).shape
                    or getattr(counts, row).min(initial=0) < 0
                ):
                    raise ValueError(f"the counts of {row} do not fit")
        except (*NOT_ARRAYS, TypeError, AttributeError, SettingsError) as error:
            raise ModelError(f"{name} is no {KIND} or is damaged ({error}); learn it again") from None
        model.parameters_, model.counts_, model.convergence_ = parameters, counts, convergence
        return model

    def save(self, path: Path) -> None:
        """Write the model to a file, whole or not at all."""
        write_file(path, self.to_bytes())

    @classmethod
    def load(cls, path: Path) -> Self:
        """Read a model from a file."""
        return cls.from_bytes(path.read_bytes(), str(path))

    parameters_: TreeParameters
    counts_: ExpectedCounts
    convergence_: Convergence

    def _learned(self) -> TreeParameters:
        if not hasattr(self, "parameters_"):
            raise InputError("the model has not learned anything: call fit first, or HiddenMarkovTree.of(parameters)")
        return self.parameters_

    def _check_settings(self) -> None:
        if self.states < 1 or self.symbols < 0 or self.subsets < 1 or self.starts < 1:
            raise SettingsError(
                f"{self.states} states, {self.symbols} symbols, {self.subsets} subsets, {self.starts} starts: expected "
                "at least 1, 0, 1 and 1"
            )
        if not 0 <= self.smoothing < np.inf:
            raise SettingsError(f"smoothing {self.smoothing}: expected 0 or more")
        if self.start and (self.start.states, self.start.symbols) != (self.states, self.symbols):
            raise SettingsError("the start has other states or symbols than the model")


def _typed(about: dict[str, Any]) -> dict[str, Any]:
    """Settings as a file tells them, each of its own type."""
    for name, told in about.items():
        fractions = name in ("smoothing", "tolerance")
        if not isinstance(told, int | float if fractions else int) or isinstance(told, bool):
            raise ValueError(f"{name} is {told!r}")
    return about


def _floats(column: NDArray[Any], name: str) -> NDArray[Any]:
    if column.dtype != np.float64 or not np.isfinite(column).all():
        raise ValueError(f"{name} holds {column.dtype}, or numbers that are not finite")
    return column


class HiddenMarkovTreeClassifier:
    """Whole trees by maximum likelihood: a model is learned from the trees of each class; a tree belongs to the class
    under whose model it is likeliest. The states mean nothing outside their own model. `model` is the one to learn for
    each class, its settings that is.

    After `fit`: `classes_` in order, and `models_`, one for each.
    """

    def __init__(self, model: HiddenMarkovTree) -> None:
        self.model = model

    def fit(self, forest: Forest, labels: ArrayLike) -> Self:
        """Learn from trees and the class of each, in the order of `forest.roots`."""
        self.classes_: NDArray[Any] = np.zeros(0, "U1")
        self.models_: list[HiddenMarkovTree] = []
        return self.partial_fit(forest, labels)

    def partial_fit(self, forest: Forest, labels: ArrayLike) -> Self:
        """Learn from more trees; classes not met before get a model of their own."""
        given = np.asarray(labels)
        if given.shape != forest.roots.shape or given.dtype.kind not in "iuU":
            raise InputError(
                f"labels of shape {given.shape} and type {given.dtype} for {len(forest.roots)} trees: expected a whole "
                "number or a text for each"
            )
        if not len(given):
            raise InputError("no trees to learn from")
        models = dict(zip(getattr(self, "classes_", np.zeros(0)).tolist(), getattr(self, "models_", []), strict=True))
        if models and {type(name) for name in models} != {type(given[0].item())}:
            raise InputError("labels of another type than those learned before")
        tree = forest.tree
        for name in np.unique(given).tolist():
            model = models.setdefault(name, HiddenMarkovTree(**self.model.settings))
            model.partial_fit(forest.at(np.flatnonzero((given == name)[tree])))
        self.classes_ = np.array(sorted(models))
        self.models_ = [models[name] for name in self.classes_.tolist()]
        return self

    def score_trees(self, forest: Forest) -> NDArray[np.float64]:
        """Log P(W | lambda_c) of each tree, a column a class."""
        self._check_learned()
        return np.stack([model.score_trees(forest) for model in self.models_], axis=1)

    def predict(self, forest: Forest) -> NDArray[Any]:
        """The class of each tree: arg max P(W | lambda_c); the first of equal ones."""
        likeliest = self._possible(forest).argmax(axis=1)
        found: NDArray[Any] = self.classes_[likeliest]
        return found

    def predict_proba(self, forest: Forest) -> NDArray[np.float64]:
        """The probability of each class for each tree, if all classes are as frequent."""
        found = self._possible(forest)
        return np.exp(found - np.logaddexp.reduce(found, axis=1, keepdims=True))

    def to_bytes(self) -> bytes:
        """All models as one `.npz` archive; the same gives the same bytes."""
        self._check_learned()
        columns: dict[str, NDArray[Any]] = {"classes": self.classes_}
        for number, model in enumerate(self.models_):
            columns[f"model_{number}"] = np.frombuffer(model.to_bytes(), np.uint8)
        return packed_arrays(columns)

    @classmethod
    def from_bytes(cls, data: bytes, name: str = "the classifier") -> Self:
        """Read what `to_bytes` wrote; everything in it is checked. Raises `ModelError`."""
        try:
            with zipfile.ZipFile(io.BytesIO(data)) as archive:
                classes = read_array(archive, "classes", LARGEST_COLUMN)
                if classes.ndim != 1 or classes.dtype.kind not in "iuU" or len(np.unique(classes)) != len(classes):
                    raise ValueError("its classes are no row of distinct names")
                packed = [bytes(read_array(archive, f"model_{k}", LARGEST_COLUMN)) for k in range(len(classes))]
        except (*NOT_ARRAYS, TypeError) as error:
            raise ModelError(f"{name} is no classifier of trees or is damaged ({error}); learn it again") from None
        if not packed:
            raise ModelError(f"{name} holds no models; learn it again")
        models = [HiddenMarkovTree.from_bytes(model, name) for model in packed]
        found = cls(HiddenMarkovTree(**models[0].settings))
        found.classes_, found.models_ = classes, models
        return found

    def save(self, path: Path) -> None:
        """Write the classifier to a file, whole or not at all."""
        write_file(path, self.to_bytes())

    @classmethod
    def load(cls, path: Path) -> Self:
        """Read a classifier from a file."""
        return cls.from_bytes(path.read_bytes(), str(path))

    def _check_learned(self) -> None:
        if not getattr(self, "models_", None):
            raise InputError("the classifier has not learned anything: call fit first")

    def _possible(self, forest: Forest) -> NDArray[np.float64]:
        found = self.score_trees(forest)
        impossible = np.flatnonzero(np.isneginf(found).all(axis=1))
        if len(impossible):
            raise InputError(
                f"{len(impossible)} trees cannot occur under any class, the first with its root at node "
                f"{forest.roots[impossible[0]]}; learn with smoothing"
            )
        return found
