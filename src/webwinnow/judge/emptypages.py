"""Pages without main content: login pages, error pages, bot checks, shells that scripts fill, pages of links only.

A page is one of the first four if its title or a main heading is exactly what such pages are called, and hardly any
text would be kept. Otherwise it must have both a low confidence and weaker signs. In doubt a page keeps its best part.
"""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from webwinnow.judge.evidence import evidence_of, reading_of, sections_of
from webwinnow.judge.featureschema import COUNTS
from webwinnow.page.page import Page

NO_CONTENT_BELOW = 0.3
"""A page with a lower confidence has no main content if it has the weaker signs of a case. Pages with content hardly
ever have so low a confidence (last table of benchmarks/page_quality.py)."""
JUDGED_WORDS = 50
"""A page of fewer words is not judged by its confidence: there is too little evidence."""
MOST_SAID = 300
"""A login page, an error page or a bot check has at most this many words outside links."""
MOST_KEPT, LONGEST_KEPT = 60, 40
"""Words that would be kept of a page that is named as one of these cases, at most; words of the longest block."""
SHELL_WORDS = 40
"""Words of a page that asks for JavaScript, at most."""
PROSE_WORDS, LEAST_PROSE = 8, 16
"""A page of links has less than this many words in text of at least so many words outside links."""
LONGEST_HEAD, MOST_HEADS = 120, 3
"""Characters of a title or heading, and headings, that are read."""
LOGIN, ERROR, BOT, SHELL, LINKS = "a login page", "an error page", "a bot check", "an empty shell", "links only"

_PARTS = re.compile(r"\s[|–—·•:»‹›-]\s|[|–—·•»‹›]")
"""What separates the parts of a title."""
_EDGES = re.compile(r"^[^\w]+|[^\w]+$")
_BLANKS = re.compile(r"[\s.!,;:?'’\"“”-]+")
_CODE = re.compile(r"^(?:(?:http )?(?:status |error |erreur |fehler )?(?:40\d|410|429|50[0-4])(?: error)?(?: |$))")
"""A status code at the beginning of a normalised part of a title."""
_NOT_FOUND = re.compile(
    r"(?:(?:oops|sorry|whoops|uh oh|ooops) )?"
    r"(?:(?:the |this |that |your )?(?:requested )?(?:page|file|document|url|content|object|resource)"
    r"(?: you requested| you are looking for| you were looking for| requested)?"
    r"(?: was| is| could| can| does| has been)?"
    r"(?: not found| not be found| cannot be found| can t be found| couldn t be found| not exist| doesn t exist"
    r"| no longer exists| not available| isn t available| no longer available| unavailable| removed| deleted)"
    r"|not found|we (?:can t|cannot|couldn t|could not) find (?:the|that|this) page(?: you are looking for)?)"
)
_ERRORS = frozenset(
    "forbidden|access forbidden|unauthorized|gone|bad request|internal server error|server error|bad gateway"
    "|gateway timeout|gateway time out|service unavailable|service temporarily unavailable|temporarily unavailable"
    "|too many requests|application error|under maintenance|site under maintenance|an error occurred|error"
    "|seite nicht gefunden|nicht gefunden|diese seite existiert nicht|page introuvable|page non trouvée"
    "|cette page n existe pas|página no encontrada|la página no existe|página não encontrada|pagina non trovata"
    "|pagina niet gevonden|sidan kunde inte hittas|sidan hittades inte|siden blev ikke fundet|siden ble ikke funnet"
    "|nie znaleziono strony|strona nie istnieje|страница не найдена|stránka nenalezena|sayfa bulunamadı"
    "|页面不存在|找不到页面|页面未找到|頁面不存在|找不到頁面|找不到網頁|ページが見つかりません|ページが見つかりませんでした"
    "|お探しのページは見つかりませんでした|페이지를 찾을 수 없습니다".split("|")
)
_BOTS = frozenset(
    "just a moment|one moment please|attention required|access denied|access to this page has been denied"
    "|pardon our interruption|are you a robot|are you human|robot check|human verification|security check|captcha"
    "|security verification|verifying you are human|checking your browser|checking if the site connection is secure"
    "|verify you are human|verify you are a human|please verify you are human|please verify you are a human"
    "|verify that you are human|ddos protection by cloudflare|安全验证|安全驗證|人机验证".split("|")
)
_LOGINS = frozenset(
    "log in|login|sign in|signin|log on|logon|member login|user login|account login|customer login|admin login"
    "|please log in|please sign in|log in to continue|sign in to continue|log in to your account"
    "|sign in to your account|login required|anmelden|anmeldung|einloggen|connexion|se connecter|identification"
    "|iniciar sesión|acceder|accedi|entrar|inloggen|aanmelden|logga in|log ind|logg inn|zaloguj się|logowanie|войти"
    "|вход|авторизация|giriş yap|登录|登錄|登入|用户登录|ログイン|로그인".split("|")
)
_NEEDS_SCRIPTS = re.compile(
    r"(?:enable|activate|requires?|needs?|without|turn on) (?:the use of )?javascript"
    r"|javascript (?:is |has been |to be )?(?:enabled|disabled|required|needed)"
    r"|javascript (?:aktivieren|activer|activar)|activer javascript|activar javascript",
    re.IGNORECASE,
)
_BOT_CHECK = re.compile(
    r"captcha|cloudflare|checking (?:if the site|your browser)|verify(?:ing)? (?:that )?you are|are you (?:a )?human"
    r"|unusual traffic|access denied|enable javascript|javascript (?:is|to be) (?:disabled|enabled)",
    re.IGNORECASE,
)
_ERROR = re.compile(
    r"\b(?:40[0134]|410|429|50[0234])\b|not (?:be )?found|no longer (?:available|exists)|does not exist|forbidden"
    r"|\berror\b|unavailable|nicht gefunden|introuvable|no encontrad[ao]|non trovat[ao]|niet gevonden",
    re.IGNORECASE,
)


def why_empty(page: Page, keep: NDArray[np.bool_], confidence: float) -> str | None:
    """Why a page has no main content; None if it may have some. `keep` are the blocks that would be kept."""
    words = evidence_of(page).words
    if not len(words):
        return None
    kept = words[keep]
    if kept.sum() <= MOST_KEPT and kept.max(initial=0) <= LONGEST_KEPT:
        named = named_case(page)
        if named is not None:
            return named
    is_doubtful = confidence < NO_CONTENT_BELOW and int(words.sum()) >= JUDGED_WORDS
    return doubtful_case(page) if is_doubtful else None


def named_case(page: Page) -> str | None:
    """The case that the title or a heading names; a shell by its request for JavaScript."""
    tree, blocks, said = page.tree, page.blocks, evidence_of(page).said
    level = sections_of(page).level
    headings = said[(level > 0) & (level <= 2)][:MOST_HEADS].tolist()
    for text in (tree.head.title, *map(blocks.text, headings)):
        for part in _PARTS.split(text[:LONGEST_HEAD]):
            found = called(part)
            if found is not None and (found != LOGIN or _asks_password(page) or len(headings) <= 1):
                return found
    is_short = int(evidence_of(page).words.sum()) <= SHELL_WORDS
    return SHELL if is_short and _NEEDS_SCRIPTS.search(" ".join(tree.text.split())) else None


def called(part: str) -> str | None:
    """The case that a part of a title, or a heading, is the name of."""
    plain = _BLANKS.sub(" ", _EDGES.sub("", part)).strip().lower()
    rest = _CODE.sub("", plain).strip()
    if plain and (not rest or rest in _ERRORS or _NOT_FOUND.fullmatch(rest)):
        return ERROR
    if plain in _BOTS:
        return BOT
    return LOGIN if plain in _LOGINS else None


def doubtful_case(page: Page) -> str | None:
    """The case that a page of low confidence shows weaker signs of."""
    reading, tree = reading_of(page), page.tree
    counts = {name: reading.counts[:, COUNTS.index(name)].astype(np.int64) for name in ("words", "link_words")}
    own = counts["words"] - counts["link_words"]
    prose = int(own[own >= PROSE_WORDS].sum())
    if int(own.sum()) <= MOST_SAID:
        if _asks_password(page):
            return LOGIN
        heads = [tree.head.title, *(reading.blocks.text(int(b)) for b in reading.said[reading.level > 0])]
        if any(map(_ERROR.search, heads)):
            return ERROR
        if any(map(_BOT_CHECK.search, (*heads, *(reading.blocks.text(int(b)) for b in reading.said[own > 0])))):
            return BOT
    return LINKS if prose < LEAST_PROSE else None


def _asks_password(page: Page) -> bool:
    return "password" in (value.lower() for value in page.tree.values("type")[1])
