"""`ModelFolder`: a folder of models, one file a site, and beside each the sums that it can be merged from, by epoch."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

from xxhash import xxh3_64_hexdigest

from webwinnow.errors import ModelError
from webwinnow.site.archive import write_whole
from webwinnow.site.knowledge import SiteKnowledge

__all__ = ["ModelFolder"]

MODEL_SUFFIX = ".model.npz"
SUMS_SUFFIX = ".sums.npz"
"""The newest epoch."""
EARLIER_SUFFIX = ".sums"
"""The folder of the earlier epochs of a site: numbered files, the oldest lowest."""
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
        earlier = _beside(model, EARLIER_SUFFIX)
        numbered = sorted(earlier.glob("*.npz"), key=_number) if earlier.is_dir() else []
        newest = _beside(model, SUMS_SUFFIX)
        return [*numbered, *([newest] if newest.exists() else [])]

    def sums(self) -> Iterator[tuple[str, list[Path]]]:
        """The files of the sums of all sites, by name. Raises `ModelError` for a model without them."""
        for path in self.models():
            found = self.epochs(path)
            if not found:
                raise ModelError(f"{path} has no sums beside it to merge; learn the site again without --no-sums")
            yield path.name, found

    def save(self, site: str, model: bytes, sums: bytes | None = None) -> None:
        """Write a packed model, and its sums if they are wanted. Earlier epochs go."""
        path = self.model_path(site)
        _forget_earlier(path)
        write_whole(path, model)
        if sums is None:
            self.sums_path(site).unlink(missing_ok=True)
        else:
            write_whole(self.sums_path(site), sums)

    def save_epoch(self, site: str, model: bytes, sums: bytes, most: int) -> None:
        """Write a packed model that a new epoch is joined to; of the sums the `most` newest epochs stay."""
        path, newest = self.model_path(site), self.sums_path(site)
        if newest.exists():
            known = self.epochs(path)
            earlier = _beside(path, EARLIER_SUFFIX)
            earlier.mkdir(exist_ok=True)
            newest.replace(earlier / f"{_number(known[-2]) + 1 if len(known) > 1 else 1}.npz")
        write_whole(newest, sums)
        write_whole(path, model)
        for old in self.epochs(path)[:-most]:
            old.unlink()

    def remove(self, model: Path) -> None:
        """Remove a model and all its sums."""
        _forget_earlier(model)
        _beside(model, SUMS_SUFFIX).unlink(missing_ok=True)
        model.unlink(missing_ok=True)


def _beside(model: Path, suffix: str) -> Path:
    return model.with_name(model.name.removesuffix(MODEL_SUFFIX) + suffix)


def _forget_earlier(model: Path) -> None:
    earlier = _beside(model, EARLIER_SUFFIX)
    if earlier.is_dir():
        shutil.rmtree(earlier)


def _number(epoch: Path) -> int:
    return int(epoch.stem) if epoch.stem.isdecimal() else 0


def _file_name(site: str) -> str:
    """A safe file name for a site: what of its name is safe, and a hash of the whole."""
    safe = _NOT_IN_NAME.sub("-", site.lower())[:LONGEST_NAME].strip("-.") or "site"
    return f"{safe}-{xxh3_64_hexdigest(site.encode('utf-8', 'replace'))}"
