"""`ModelFolder`: a folder of models, one file a site, and beside each the sums that it can be merged from."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from xxhash import xxh3_64_hexdigest

from webwinnow.errors import ModelError
from webwinnow.site.knowledge import SiteKnowledge
from webwinnow.site.sums import SiteSums

__all__ = ["ModelFolder"]

MODEL_SUFFIX = ".model.npz"
SUMS_SUFFIX = ".sums.npz"
LONGEST_NAME = 80
_NOT_IN_NAME = re.compile(r"[^a-z0-9.]+")


class ModelFolder:
    """Models by the name of their site."""

    def __init__(self, path: Path, *, make: bool = False) -> None:
        if make:
            path.mkdir(parents=True, exist_ok=True)
        if not path.is_dir():
            raise ModelError(f"{path} is no folder of models; make one with: webwinnow learn INPUT -o {path}")
        self.path = path

    def model_path(self, site: str) -> Path:
        """Where the model of a site lies."""
        return self.path / (_file_name(site) + MODEL_SUFFIX)

    def sums_path(self, site: str) -> Path:
        """Where the sums of a site lie."""
        return self.path / (_file_name(site) + SUMS_SUFFIX)

    def find(self, site: str) -> SiteKnowledge | None:
        """The model of a site; None for a site that the folder does not know."""
        path = self.model_path(site)
        if not path.exists():
            return None
        model = SiteKnowledge.load(path)
        if model.site != site:
            raise ModelError(f"{path} is the model of {model.site!r}, not of {site!r}; learn the site again")
        return model

    def models(self) -> Iterator[Path]:
        """The files of all models, by name."""
        return iter(sorted(self.path.glob(f"*{MODEL_SUFFIX}")))

    def sums(self) -> Iterator[tuple[Path, SiteSums]]:
        """The sums of all sites, by name. Raises `ModelError` for a model without them."""
        for path in self.models():
            found = path.with_name(path.name.removesuffix(MODEL_SUFFIX) + SUMS_SUFFIX)
            if not found.exists():
                raise ModelError(f"{path} has no sums beside it to merge; learn the site again without --no-sums")
            yield found, SiteSums.load(found)

    def save(self, site: str, model: bytes, sums: bytes | None = None) -> None:
        """Write a packed model, and its sums if they are wanted."""
        self.model_path(site).write_bytes(model)
        if sums is None:
            self.sums_path(site).unlink(missing_ok=True)
        else:
            self.sums_path(site).write_bytes(sums)


def _file_name(site: str) -> str:
    """A safe file name for a site: what of its name is safe, and a hash of the whole."""
    safe = _NOT_IN_NAME.sub("-", site.lower())[:LONGEST_NAME].strip("-.")
    return f"{safe}-{xxh3_64_hexdigest(site.encode('utf-8', 'replace'))}"
