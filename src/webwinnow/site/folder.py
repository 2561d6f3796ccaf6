"""`ModelFolder`: a folder of models, one file a site, and beside each the sums that it can be merged from, by epoch."""

from __future__ import annotations

import glob
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
"""The newest epoch; earlier ones are numbered, the oldest lowest."""
EPOCH_SUFFIX = ".sums.*.npz"
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

    def written(self, site: str) -> int | None:
        """When the model of a site was written, in nanoseconds; None for a site that the folder does not know."""
        try:
            return self.model_path(site).stat().st_mtime_ns
        except OSError:
            return None

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

    def epochs(self, model: Path) -> list[Path]:
        """The files of the sums beside a model, one an epoch, oldest first; none if they were not kept."""
        name = model.name.removesuffix(MODEL_SUFFIX)
        newest = model.with_name(name + SUMS_SUFFIX)
        numbered = {_epoch_number(path): path for path in self.path.glob(f"{glob.escape(name)}{EPOCH_SUFFIX}")}
        return [*(numbered[number] for number in sorted(numbered)), *([newest] if newest.exists() else [])]

    def sums(self) -> Iterator[tuple[str, list[Path]]]:
        """The files of the sums of all sites, by name. Raises `ModelError` for a model without them."""
        for path in self.models():
            found = self.epochs(path)
            if not found:
                raise ModelError(f"{path} has no sums beside it to merge; learn the site again without --no-sums")
            yield path.name, found

    def save(self, site: str, model: bytes, sums: bytes | None = None) -> None:
        """Write a packed model, and its sums if they are wanted. Earlier epochs go."""
        for path in set(self.epochs(self.model_path(site))) - {self.sums_path(site)}:
            path.unlink()
        write_whole(self.model_path(site), model)
        if sums is None:
            self.sums_path(site).unlink(missing_ok=True)
        else:
            write_whole(self.sums_path(site), sums)

    def save_epoch(self, site: str, model: bytes, sums: bytes, most: int) -> None:
        """Write a packed model that a new epoch is joined to; of the sums the `most` newest epochs stay."""
        newest = self.sums_path(site)
        earlier = self.epochs(self.model_path(site))
        if newest.exists():
            last = _epoch_number(earlier[-2]) if len(earlier) > 1 else 0
            name = newest.name.removesuffix(SUMS_SUFFIX) + EPOCH_SUFFIX.replace("*", str(last + 1))
            newest.replace(newest.with_name(name))
        write_whole(newest, sums)
        write_whole(self.model_path(site), model)
        for path in self.epochs(self.model_path(site))[:-most]:
            path.unlink()


def _epoch_number(path: Path) -> int:
    found = re.search(r"\.sums\.(\d+)\.npz$", path.name)
    return int(found[1]) if found else 0


def _file_name(site: str) -> str:
    """A safe file name for a site: what of its name is safe, and a hash of the whole."""
    safe = _NOT_IN_NAME.sub("-", site.lower())[:LONGEST_NAME].strip("-.") or "site"
    return f"{safe}-{xxh3_64_hexdigest(site.encode('utf-8', 'replace'))}"
