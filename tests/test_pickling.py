"""Errors and models come out of another process, such as a worker of a pool, as they went in."""

from __future__ import annotations

import importlib
import inspect
import pickle
import pkgutil
from collections.abc import Callable
from typing import Any

import webwinnow
from webwinnow import PageRecord, SiteModel
from webwinnow.methods.registry import method_names
from webwinnow.site.featureweights import CstWeightSettings

EXAMPLES = {"str": "some words", "int": 3, "list[ProxiedRequest]": []}
"""A value for each type of the parameters of errors."""
OPTIONAL = {"ray", "pyspark", "py4j", "datatrove"}


def our_errors() -> set[type[BaseException]]:
    """Every exception class that a module of the package defines."""
    for module in pkgutil.walk_packages(webwinnow.__path__, "webwinnow."):
        if not module.name.endswith("__main__"):
            try:
                importlib.import_module(module.name)
            except ModuleNotFoundError as error:
                if (error.name or "").partition(".")[0] not in OPTIONAL:
                    raise
    found, waiting = set(), [BaseException]
    while waiting:
        below = set(waiting.pop().__subclasses__()) - found
        found |= below
        waiting += below
    return {kind for kind in found if kind.__module__.startswith("webwinnow.")}


def example(kind: type[BaseException]) -> BaseException:
    if kind.__init__ in (BaseException.__init__, Exception.__init__):
        return kind("some words")
    parameters = list(inspect.signature(kind).parameters.values())
    return kind(*(EXAMPLES[one.annotation] for one in parameters))


def test_every_error_survives_pickling() -> None:
    kinds = our_errors()
    assert {"MissingExtra", "QueueFull", "PageRefused", "RenderFailed"} <= {kind.__name__ for kind in kinds}
    broken = {}
    for kind in kinds:
        before = example(kind)
        before.add_note("a note")
        try:
            after = pickle.loads(pickle.dumps(before))
        except Exception as error:
            broken[kind.__name__] = repr(error)
        else:
            if (type(after), str(after), vars(after)) != (kind, str(before), vars(before)):
                broken[kind.__name__] = f"{after!r} {vars(after)}"
    assert broken == {}


def page(number: int) -> PageRecord:
    story = " ".join(f"word{number}x{k}" for k in range(30))
    html = f"<title>Title {number}</title><ul><li>Home<li>News</ul><div><h1>Title {number}</h1><p>{story}</p></div>"
    return PageRecord(url=f"http://a.example/{number}", body=html.encode(), ordinal=number)


CALLS: dict[str, Callable[[SiteModel, Any], object]] = {
    "pages_that_say": lambda model, _: model.pages_that_say(model.part("texts").key),
    "shares_name": lambda model, _: model.shares_name("Title 1"),
    "part": lambda model, _: model.part("sst"),
    "noise_map": lambda model, _: [model.noise_map(name) for name in model.noise_trees],
    "feature_weights": lambda model, _: model.feature_weights(CstWeightSettings()),
    "with_threshold": lambda model, _: model.with_threshold(0.5),
    "to_bytes": lambda model, _: model.to_bytes(),
    "save": lambda model, folder: model.save(folder / "model"),
    "clean": lambda model, _: [model.clean(page(2), method).text for method in method_names() if method != "visual"],
}
"""How each method of a model is called."""


def test_a_model_survives_pickling_after_any_method(tmp_path: Any) -> None:
    methods = {
        name
        for name, value in inspect.getmembers_static(SiteModel)
        if inspect.isfunction(value) and not name.startswith("_")
    }
    assert methods == CALLS.keys()
    model = webwinnow.learn([page(number) for number in range(6)], "a.example")
    cleaned = model.clean(page(2)).text
    for name, call in CALLS.items():
        call(model, tmp_path)
        after = pickle.loads(pickle.dumps(model))
        assert after.to_bytes() == model.to_bytes(), name
        assert after.clean(page(2)).text == cleaned, name
    for name, value in inspect.getmembers_static(SiteModel):
        if not callable(value) and not name.startswith("__"):
            getattr(model, name)
    assert pickle.loads(pickle.dumps(model)).to_bytes() == model.to_bytes()
