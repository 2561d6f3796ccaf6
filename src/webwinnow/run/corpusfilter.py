"""`CorpusFilter`: which cleaned pages become part of a corpus, by language, length and quality of their text."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Annotated, Any, Final

from webwinnow.errors import SettingsError
from webwinnow.record.fields import CONTENT_FIELDS
from webwinnow.record.textquality import QualityRules, broken_rule, signals_of
from webwinnow.settings import HIDDEN, KEEP, Settings, setting

_LANGUAGE: Final = re.compile(r"[a-z]{2,3}")


@dataclass(frozen=True, slots=True, kw_only=True)
class CorpusFilter(Settings):
    """Pages that do not pass are dropped with the reason.

    - `languages`: the languages to keep, as in the field `lang`; empty for all. Pages of unknown language are dropped.
    - `min_words`: words that a page must have (`kept_words`).
    - `quality`: the published rules to apply (`webwinnow.record.textquality`).
    - `signals`: add the quality signals of the text to each record.
    """

    PANEL = KEEP

    languages: Annotated[tuple[str, ...], setting("Only pages in this language, or in several: en,de.", "--lang")] = ()
    min_words: Annotated[int, setting("Drop pages with fewer words of content.", "--min-words", least=0)] = 0
    quality: Annotated[
        QualityRules, setting("Drop pages by the published rules of Gopher, or of FineWeb too.", "--quality")
    ] = "none"
    signals: Annotated[
        bool, setting("Add the quality signals of the text to each record.", "--signals", panel=HIDDEN)
    ] = False

    def validate(self) -> None:
        """Raise `SettingsError` for what is no code of a language."""
        for language in self.languages:
            if not _LANGUAGE.fullmatch(language):
                raise SettingsError(f"language {language!r}: expected two or three small letters, such as en or deu")

    @property
    def is_open(self) -> bool:
        """Whether all pages pass, without signals."""
        return self == CorpusFilter()

    def judge(self, record: dict[str, Any]) -> None:
        """Add signals to the record of a kept page; drop it, without its content, if it does not pass."""
        if record["outcome"] != "kept":
            return
        signals = None
        if self.signals or self.quality != "none":
            signals = signals_of(record["text"], record["lang"])
        if self.signals:
            record["signals"] = signals
        reason = self._reason(record)
        if reason is None:
            reason = broken_rule(self.quality, record["text"], signals, record["lang"])
        if reason is not None:
            record |= {"outcome": "dropped", "reason": reason, "kept_words": 0}
            record |= {name: "" for name in CONTENT_FIELDS if record.get(name) is not None}

    def _reason(self, record: dict[str, Any]) -> str | None:
        if self.languages and record["lang"] not in self.languages:
            return f"language: {record['lang'] or 'unknown'}"
        if record["kept_words"] < self.min_words:
            return f"words: fewer than {self.min_words}"
        return None
