"""`webwinnow serve`: the service, REST for programs and a web page for people, each a thin layer over the rest."""

from __future__ import annotations

from webwinnow.service.settings import ServiceSettings

__all__ = ["ServiceSettings"]
