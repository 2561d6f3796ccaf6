"""`ModelFolder`: a folder of models, one file a site, and beside each the sums that it can be merged from."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from xxhash import xxh3_64_hexdigest

from webwinnow.errors import ModelError
from webwinnow.site.archive import write_whole
from webwinnow.site.knowledge import SiteKnowledge

__all__ = ["ModelFolder"]

MODEL_SUFFIX = ".model.npz"
SUMS_SUFFIX = ".sums.npz"
LONGEST_NAME = 80
_NOT_IN_NAME = re.compile(r"[^a-z0-9.]+")


class ModelFolder:
    """Models by the name of their site. A folder to read has one at least; one to write is made if asked for."""

    def __init__(self, path: Path, *, make: bool = False) -> None:
        if make and path.exists() and not path.is_dir():
            raise ModelError(f"{path} is a file; expected a folder for models, or the name of a new one")
        if make:
            path.mkdir(parents=True, exist_ok=True)
        elif not path.is_dir() or not any(path.glob(f"*{MODEL_SUFFIX}")):
            raise ModelError(f"{path} is no folder of models; make one with: webwinnow learn INPUT -o FOLDER")
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

    def sums(self) -> Iterator[Path]:
        """The files of the sums of all sites, by name. Raises `ModelError` for a model without them."""
        for path in self.models():
            found = path.with_name(path.name.removesuffix(MODEL_SUFFIX) + SUMS_SUFFIX)
            if not found.exists():
                raise ModelError(f"{path} has no sums beside it to merge; learn the site again without --no-sums")
            yield found

    def save(self, site: str, model: bytes, sums: bytes | None = None) -> None:
        """Write a packed model, and its sums if they are wanted."""
        write_whole(self.model_path(site), model)
        if sums is None:
            self.sums_path(site).unlink(missing_ok=True)
        else:
            write_whole(self.sums_path(site), sums)


def _file_name(site: str) -> str:
    """A safe file name for a site: what of its name is safe, and a hash of the whole."""
    safe = _NOT_IN_NAME.sub("-", site.lower())[:LONGEST_NAME].strip("-.") or "site"
    return f"{safe}-{xxh3_64_hexdigest(site.encode('utf-8', 'replace'))}"
