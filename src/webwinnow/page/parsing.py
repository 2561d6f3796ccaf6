"""Bytes to `PageTree`: the encoding, the tree, its arrays, the head.

A page that is valid UTF-8 is read as UTF-8, any other as browsers do: BOM, transport header, meta, detection.
`HtmlTree` builds the tree, and `_layout.lay_out` writes its arrays. turbohtml detects encodings and languages, and
applies the page's style sheets if `ParseLimits.css` asks for it.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated

from webwinnow.errors import PageRefused
from webwinnow.page import urls
from webwinnow.page._htmltokens import utf8_kind
from webwinnow.page._htmltree import HtmlTree
from webwinnow.page._layout import lay_out
from webwinnow.page.layout import PageLayout
from webwinnow.page.markup import CSS_ATTRIBUTE, is_shadow_root
from webwinnow.page.tree import Head, PageTree, without_surrogates
from webwinnow.settings import Settings, setting

if TYPE_CHECKING:
    import turbohtml
    from turbohtml.cssom import StyleRule

MAX_JSON_LD = 262_144
"""Characters of JSON-LD in a tree; of the 1,237 pages of `pages-wcxb` none has more than 74,139."""
MAX_METAS = 500
MAX_CSS_RULES = 5_000
"""Rules of style sheets that are used."""
MAX_CASCADES = 2_000
"""Combinations of rules and inline style for which the cascade runs, which takes 0.2 ms."""

META_PRESCAN = 16_384
"""Bytes searched for a meta charset. The standard says 1,024, but pages with long scripts first are common."""
DETECTION_SAMPLE = 262_144
"""Bytes that the encoding is detected from."""
LANGUAGE_SAMPLE = 2_000
"""Characters that the language is detected from."""
LANGUAGE_NEEDS = 200
"""Characters that the detector needs at least: with fewer it mistakes German for Danish."""
SURE_OF_LANGUAGE = 0.5
"""Confidence that it needs at least."""
_TWO_LETTERS = dict(
    pair.split(":")
    for pair in (
        "afr:af amh:am ara:ar arb:ar aze:az bel:be ben:bn bul:bg cat:ca ces:cs cmn:zh cym:cy dan:da deu:de ell:el "
        "eng:en epo:eo est:et eus:eu fas:fa pes:fa fin:fi fra:fr gle:ga glg:gl guj:gu heb:he hin:hi hrv:hr hun:hu "
        "hye:hy ind:id isl:is ita:it jpn:ja kan:kn kat:ka kaz:kk khm:km kor:ko lao:lo lat:la lav:lv lit:lt mal:ml "
        "mar:mr mkd:mk msa:ms zsm:ms mya:my nep:ne nld:nl nob:nb nno:nn nor:no pan:pa pol:pl por:pt ron:ro rus:ru "
        "sin:si slk:sk slv:sl som:so spa:es sqi:sq srp:sr swe:sv swa:sw swh:sw tam:ta tel:te tgl:tl tha:th tur:tr "
        "ukr:uk urd:ur uzb:uz vie:vi yid:yi zho:zh zul:zu"
    ).split()
)

_NUMBER = "ww-number"
"""Attribute of the elements that are copied for style sheets: their number in the tree."""

_META = re.compile(rb"<meta\b([^>]*)", re.IGNORECASE)
_META_ATTRIBUTE = re.compile(rb"(?<![^\s=/\"'>])([^\s=/\"'>]+)\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s>]*))")
_COMMENT = re.compile(rb"<!--.*?-->", re.DOTALL)
_CHARSET_PARAMETER = re.compile(r"charset\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s\"',;]+))", re.IGNORECASE)
_LABEL = re.compile(r"[a-z0-9][a-z0-9_:.()-]*")
_BOMS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16le"), (codecs.BOM_UTF16_BE, "utf-16be"))
_READ_AS = (
    dict.fromkeys("gb2312 gb_2312-80 gbk x-gbk".split(), "gb18030")  # a superset; the standard treats all alike
    | dict.fromkeys("iso-8859-1 latin1 us-ascii ascii ansi_x3.4-1968 cp1252".split(), "windows-1252")
    | dict.fromkeys("ks_c_5601-1987 ks_c_5601-1989".split(), "euc-kr")
    | {"utf8": "utf-8"}
)
_YEAR_OF_STANDARD = re.compile(r"(?<=^iso_8859-\d):\d{4}$")
_REPLACEMENT = frozenset("csiso2022kr hz-gb-2312 iso-2022-cn iso-2022-cn-ext iso-2022-kr replacement".split())
_UTF_16 = frozenset("utf-16 utf-16le utf-16be csunicode iso-10646-ucs-2 ucs-2 unicode unicodefeff unicodefffe".split())
_CUT = "unexpected end of data"
_XML_DECLARATION = re.compile(rb"<\?xml\b[^>]*?\bencoding\s*=\s*([\"'])([^\"'>]*)\1")
_IN_META = dict.fromkeys(_UTF_16, "utf-8") | {"x-user-defined": "windows-1252"}
"""A page whose meta can be read as ASCII is not UTF-16 (HTML standard)."""

_ASCII, _UTF_8 = 0, 1
"""Answers of `utf8_kind`."""
_ASCII_ALIKE = frozenset(("utf-8", "windows-1252"))


@dataclass(frozen=True, slots=True, kw_only=True)
class ParseLimits(Settings):
    """Limits for one page. Over bytes or nodes it is refused; over depth or attributes it is clipped, see the tree.

    `css`: rules of `<style>` count as display properties of the elements they match (Yi and Liu 3.1), in styles only.
    """

    max_bytes: Annotated[int, setting("Refuse pages that are longer than this many bytes.", "--max-bytes", least=0)] = (
        20_000_000
    )
    max_nodes: Annotated[int, setting("Refuse pages with more elements than this.", least=1)] = 1_000_000
    max_depth: Annotated[int, setting("Elements below this depth are clipped.", least=1)] = 500
    max_attributes: Annotated[int, setting("Attributes of an element beyond this number are ignored.", least=0)] = 1_000
    css: Annotated[
        bool,
        setting("Rules of style sheets in the page count as display properties, as in Yi and Liu (slower).", "--css"),
    ] = False


DEFAULT_LIMITS = ParseLimits()


def parse(
    html: bytes | str,
    url: str | None = None,
    *,
    content_type: str | None = None,
    limits: ParseLimits = DEFAULT_LIMITS,
    layout: bytes | None = None,
) -> PageTree:
    """Parse one page; `PageRefused` if it is over the limits. `content_type` is the transport header with a charset.

    `layout` is the packed `PageLayout` of a rendered page (`PageRecord.layout`); `ModelError` if it is damaged. With
    it, `limits.css` takes display properties from there and not from style sheets.
    """
    if len(html) > limits.max_bytes:
        unit = "bytes" if isinstance(html, bytes) else "characters"
        raise PageRefused(
            f"the page is {len(html):,} {unit} long, the limit is {limits.max_bytes:,}; raise the limit to read it"
        )
    page, encoding = _as_utf8(html, content_type)
    drawn_styles = limits.css and layout is not None
    tree = HtmlTree(page, limits.max_nodes, limits.max_attributes)
    head = _head(tree, url or "")
    css_clipped = limits.css and not drawn_styles and _note_css(tree, limits.max_depth)
    columns = lay_out(tree, limits.max_nodes, limits.max_depth, limits.max_attributes)
    frameset = columns.pop("frameset")
    columns["clipped_css"] = css_clipped
    clipped = tuple(name for name in ("depth", "attributes", "css") if columns.pop(f"clipped_{name}"))
    bare = len(columns["tag"]) <= 2 and not columns["text"].strip()
    found = PageTree(
        url=url or "",
        head=head,
        encoding=encoding,
        reason="frameset" if frameset and bare else "empty" if bare else None,
        clipped=clipped,
        **columns,
    )
    if layout is None:
        return found
    drawn = PageLayout.from_bytes(layout).at(found)
    return replace(found, layout=drawn, style=drawn.styles(found.style) if drawn_styles else found.style)


# Style sheets


def _note_css(tree: HtmlTree, max_depth: int) -> bool:
    """Give each element that rules of `<style>` match the values that the cascade gives their properties.

    Elements with the same rules and inline style have the same values, so the cascade runs once for them. Style sheets
    lose the other rules first, since it reads them every time. `display: none` hides nothing: it is a property only.
    Returns whether rules were left out.
    """
    import turbohtml  # noqa: PLC0415 (loaded for the few runs that need it)
    from turbohtml.cssom import StyleSheet  # noqa: PLC0415

    document = _copied(tree, max_depth)
    sheets = list(document.iter_elements("style"))
    rules = [rule for sheet in sheets for rule in StyleSheet(sheet.text).rules]
    matching: list[StyleRule] = []
    matched: dict[str, tuple[turbohtml.Element, list[int]]] = {}
    for rule in rules[:MAX_CSS_RULES]:
        try:
            elements = document.select(rule.selector_text)
        except turbohtml.SelectorSyntaxError:
            continue
        for element in elements:
            matched.setdefault(str(element.attrs[_NUMBER]), (element, []))[1].append(len(matching))
        matching += [rule] if elements else []
    for sheet in sheets:
        sheet.clear()
    if matching:
        sheets[0].set_text("".join(f"{rule.selector_text} {{ {rule.style.text} }}\n" for rule in matching))
    known: dict[tuple[str, ...], str] = {}
    for number, (element, matches) in matched.items():
        key = (element.attr("style") or "", *map(str, matches))
        if key not in known and len(known) < MAX_CASCADES:
            known[key] = _cascaded(element, {name for k in matches for name in matching[k].style})
        if known.get(key):
            tree.add_attribute(int(number), CSS_ATTRIBUTE, known[key])
    return len(rules) > MAX_CSS_RULES or len(known) == MAX_CASCADES


def _copied(tree: HtmlTree, max_depth: int) -> turbohtml.Document:
    """The page for turbohtml's selectors; the attribute `_NUMBER` of an element is its number in the tree.

    What is below `max_depth` or in a template is left out.
    """
    import turbohtml  # noqa: PLC0415

    document = turbohtml.parse("")
    copies: dict[int, tuple[turbohtml.Element, int]] = {}
    for node, parent, _, name, attributes, text in tree.nodes():
        above, depth = copies.get(parent, (None, 0))
        if (above is None and parent) or depth > max_depth:
            continue
        if not name:
            if above is not None:
                above.append(turbohtml.Text(text))
            continue
        numbered = {**attributes, _NUMBER: str(node)}
        try:
            copy = turbohtml.Element(name, numbered)
        except ValueError:  # such a name has a quotation mark or the like, and no selector is about it
            copy = turbohtml.Element("unknown", {key: value for key, value in numbered.items() if "=" not in key})
        if above is not None:
            above.append(copy)
        elif document.root is not None:
            document.root.replace_with(copy)
        if name != "template" or is_shadow_root(name, attributes.items()):
            copies[node] = copy, depth + 1
    return document


def _cascaded(element: turbohtml.Element, declared: set[str]) -> str:
    """The computed values of the declared properties of an element, and of those that a shorthand stands for."""
    from turbohtml.cssom import computed_style  # noqa: PLC0415

    style = computed_style(element)
    wanted = (name for name in style if any(name == one or name.startswith(f"{one}-") for one in declared))
    return ";".join(sorted(f"{name}:{style[name]}" for name in wanted))


# The head


def _head(tree: HtmlTree, url: str) -> Head:
    reader = _HeadReader()
    language = ""
    for tag, attributes, text in tree.head_elements():
        if tag == "html":
            language = attributes.get("lang") or attributes.get("xml:lang") or ""
        elif tag == "script":
            reader.json_ld(text)
        else:
            reader.note(tag, attributes, text)
    return reader.head(url, language)


class _HeadReader:
    """Collects the head's elements: the first title, base and canonical link win, as in browsers."""

    def __init__(self) -> None:
        self.title = self.base = ""
        self.canonical: str | None = None
        self.metas: list[tuple[str, str]] = []
        self.scripts: list[str] = []
        self.script_room = MAX_JSON_LD

    def json_ld(self, script: str) -> None:
        if len(script) <= self.script_room:
            self.scripts.append(script)
            self.script_room -= len(script)

    def note(self, tag: str, attributes: Mapping[str, str], text: str) -> None:
        if tag == "meta":
            content = (attributes.get("content", "")).strip()
            if content and len(self.metas) < MAX_METAS:
                for key in ("name", "property", "itemprop", "http-equiv"):
                    name = attributes.get(key)
                    if name:
                        self.metas.append((name.strip().lower(), content))
        elif tag == "link":
            if self.canonical is None and "canonical" in attributes.get("rel", "").lower().split():
                self.canonical = attributes.get("href", "").strip() or None
        elif tag == "base":
            self.base = self.base or attributes.get("href", "").strip()
        elif not self.title:
            self.title = " ".join(text.split())

    def head(self, url: str, language: str) -> Head:
        if not language:
            language = next((value for key, value in self.metas if key in ("content-language", "language")), "")
        base = (urls.resolve(url, self.base) if self.base else None) or url
        if base.lower().startswith(("data:", "javascript:")):  # browsers ignore such a base too
            base = url
        return Head(
            title=self.title,
            language=language.strip(),
            base=base,
            canonical=None if self.canonical is None else urls.resolve(base, self.canonical),
            metas=tuple(self.metas),
            json_ld=tuple(self.scripts),
        )


# Bytes to text


def _as_utf8(body: bytes | str, content_type: str | None) -> tuple[bytes, str]:
    """`decode` with the text in UTF-8: the bytes themselves if they are."""
    if isinstance(body, bytes):
        kind = utf8_kind(body)
        declared = _header_label(content_type)
        if kind == _UTF_8 and not (declared in _UTF_16 and b"\0" in body):
            return body.removeprefix(codecs.BOM_UTF8), "utf-8"
        if kind == _ASCII and (declared or _meta_label(body) or _xml_label(body) or "utf-8") in _ASCII_ALIKE:
            return body, "utf-8"
    text, encoding = decode(body, content_type)
    return text.encode(), encoding


def decode(body: bytes | str, content_type: str | None = None) -> tuple[str, str]:
    """Return the page's text and its encoding. Undecodable bytes and lone surrogates become U+FFFD.

    Bytes that are valid UTF-8 with multi-byte characters are UTF-8, whatever is declared: text in another encoding is
    practically never. Otherwise the encoding is the one that browsers use: BOM, transport header, meta, XML
    declaration, detection, windows-1252.
    """
    if isinstance(body, str):
        return without_surrogates(body).removeprefix("\ufeff"), "unicode"
    for bom, label in _BOMS:
        if body.startswith(bom):
            return body[len(bom) :].decode(label, "replace"), label
    declared = _header_label(content_type)
    if not body.isascii() and not (declared in _UTF_16 and b"\0" in body):
        text = _utf8(body)
        if text is not None:
            return text, "utf-8"
    label = declared or _meta_label(body) or _xml_label(body) or ("utf-8" if body.isascii() else _detected(body))
    if label in _ASCII_ALIKE and body.isascii():
        return body.decode("ascii"), "utf-8"
    if label == "utf-8":
        return body.decode("utf-8", "replace"), label
    _register_encodings()
    return body.decode(f"whatwg-{label}", "replace"), label


def _utf8(body: bytes) -> str | None:
    """The text of bytes that are UTF-8; only the last character, of a page that was cut, may be incomplete."""
    try:
        return body.decode("utf-8")
    except UnicodeDecodeError as error:
        whole = body[: error.start]
        is_cut = error.reason == _CUT and error.end == len(body) and not whole.isascii()
        return whole.decode("utf-8") + "\ufffd" if is_cut else None


def _header_label(content_type: str | None) -> str | None:
    return _known(_charset_in(content_type or ""))


def _charset_in(parameters: str) -> str:
    match = _CHARSET_PARAMETER.search(parameters)
    return next((label for label in match.groups() if label), "") if match else ""


def _meta_label(body: bytes) -> str | None:
    for meta in _META.finditer(_COMMENT.sub(b"", body[:META_PRESCAN])):
        if b"charset" not in meta[1].lower():
            continue
        attributes = {name.lower(): b"".join(value) for name, *value in reversed(_META_ATTRIBUTE.findall(meta[1]))}
        label = attributes.get(b"charset", b"").decode("latin-1")
        if not label and attributes.get(b"http-equiv", b"").strip().lower() == b"content-type":
            label = _charset_in(attributes.get(b"content", b"").decode("latin-1"))
        known = _known(label)
        if known is not None:
            return _IN_META.get(known, known)
    return None


def _xml_label(body: bytes) -> str | None:
    match = _XML_DECLARATION.match(body)
    known = _known(match[2].decode("latin-1")) if match else None
    return known and _IN_META.get(known, known)


def _known(label: str) -> str | None:
    """Return the label of an encoding of the HTML standard; None for any other (`none`, `utf8;`, `utf-7`).

    The standard's `replacement` encodings count as unknown: a browser shows nothing of such a page.
    """
    label = _YEAR_OF_STANDARD.sub("", label.strip().lower())
    label = _READ_AS.get(label, label)
    if label in _ASCII_ALIKE:
        return label
    if _LABEL.fullmatch(label) is None or label in _REPLACEMENT:
        return None
    _register_encodings()
    try:
        codecs.lookup(f"whatwg-{label}")
    except (LookupError, ValueError):
        return None
    return label


def _register_encodings() -> None:
    """Make the encodings of the HTML standard known to Python, as `whatwg-...`."""
    import turbohtml.detect  # noqa: F401, PLC0415 (it registers them)


def _detected(body: bytes) -> str:
    from turbohtml.detect import detect  # noqa: PLC0415 (loaded for the few pages that need it)

    sample = body if len(body) <= DETECTION_SAMPLE else body[:DETECTION_SAMPLE]
    found = detect(sample).encoding
    return (_known(found) if found else None) or "windows-1252"


def language_of(text: str) -> str | None:
    """Return the language of a text (`en`; `ceb` if there is no two-letter code), None when unsure."""
    if len(text) < LANGUAGE_NEEDS:
        return None
    from turbohtml.detect import detect_language  # noqa: PLC0415

    found = detect_language(text[:LANGUAGE_SAMPLE])
    if found.language is None or found.confidence < SURE_OF_LANGUAGE:
        return None
    return _TWO_LETTERS.get(found.language, found.language)
