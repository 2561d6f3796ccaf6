"""What the page model measures: names, order and sizes of its counts, features and tokens."""

from __future__ import annotations

from webwinnow.page.markup import TAGS

WORD_BITS, TOKEN_BITS = 16, 14
"""Bits that words and names of elements are hashed into: tables of 65,536 and 16,384 weights."""
HEARD_WORDS = 40
"""Words of a block that the linear model reads, from its start: the rest of a long paragraph adds nothing."""
MOST_TOKENS = 64
"""Most tokens of the names of one element (ours, against endless class lists)."""
SHINGLE_BITS = 16
"""A map of shingles has 65,536 bits."""
ITEMS = 3
"""Siblings of one style that make a list of repeated items."""
NOTHING = -1e9
"""Below every score: stands for none."""
PROSE_CHARACTERS = 25
"""Shorter blocks do not count for their container, as in readability's scoring."""

_MARKED = {
    "link": "a",
    "strong": "b strong em i",
    "nav": "nav menu",
    "header": "header",
    "footer": "footer",
    "aside": "aside",
    "main": "main",
    "article": "article",
    "section": "section",
    "form": "form fieldset",
    "table": "table",
    "item": "li",
    "figure": "figure figcaption picture",
    "quote": "blockquote q",
    "terms": "dl dt dd",
    "button": "button label select option legend summary",
    "code": "pre code",
    "paragraph": "p",
    "cell": "td th",
    "heading": "h1 h2 h3 h4 h5 h6",
    "picture": "img image picture video svg iframe",
    "field": "input textarea select button",
}
MARK: dict[str, int] = {name: 1 << k for k, name in enumerate(_MARKED)}
"""Bits for the elements around a node. Pictures and fields mark themselves only."""
OWN_MARKS = MARK["picture"] | MARK["field"]
SHOWN_MARKS = tuple(name for name in _MARKED if name not in ("picture", "field", "strong", "heading"))
TAG_MARKS = tuple(sum(MARK[name] for name, tags in _MARKED.items() if tag in tags.split()) for tag in TAGS)

COUNTS: tuple[str, ...] = tuple(
    "chars words link_words strong_words digits letters capitals numbers ends commas signs money short long in_title "
    "in_summary in_data last".split()
)
"""Columns of `block_words`. `last` is the class of the last character."""

_OWN = (
    "words chars word_length link_share strong_share digit_share capital_share number_share ends_per_word "
    "commas_per_word sign_share money short_share long_share title_share title_words summary_share summary_words "
    "data_share last_sign level hidden noscript preformatted"
).split()
ITEM_FEATURES = "same place words blocks link_share pictures list_share list_link_share list_linear".split()
_CONTAINER = "words link_share page_share blocks linear prose ends same".split()
FEATURES: tuple[str, ...] = (
    *_OWN,
    *(f"in_{name}" for name in SHOWN_MARKS),
    *(f"linear_{part}" for part in ("all", "words", "near", "mid", "far")),
    *"copies earlier_copies copy_gap group_size group_share group_words group_link_share group_linear".split(),
    *(f"{which}_{name}" for which in ("item", "outer") for name in ITEM_FEATURES),
    *(f"above{k}_{name}" for k in range(5) for name in _CONTAINER),
    *"above_pictures above_fields".split(),
    *(f"{which}_{name}" for which in ("prose", "liked", "title") for name in ("up", "down", "side", "share")),
    *"since_heading heading_level heading_score heading_linear heading_link_share heading_scope heading_words".split(),
    *"until_heading until_heading_words place words_before depth from_title".split(),
    *(f"around{k}_{name}" for k in (2, 7, 20) for name in ("link_share", "linear", "ends", "words")),
    *"around7_data above1_data".split(),
    *(f"{which}_{name}" for which in ("before", "after") for name in ("words", "link_share", "linear", "same_group")),
    *"page_blocks page_words page_link_share page_ends page_linear page_headings page_hidden page_liked".split(),
    *"page_prose page_pictures page_fields page_data".split(),
)
"""Rows of `block_features`, in order."""
CONTEXTS: tuple[str, ...] = tuple(
    "given given_before2 given_before given_after given_after2 given_around2 given_around5 given_around12 "
    "given_around30 given_last8 given_next8 given_above0 given_above1 given_above2 given_above3 given_above4 "
    "given_item given_list given_outer given_outer_list given_group given_group_most best_up best_down best_side "
    "best_share best_given heading_given section_given next_heading_given likely_before rank likely_share "
    "likely_words sure_share sure_words earlier_copy_given copy_gap_given".split()
)
"""Rows of `context_features`, in order."""
MOST_LEVELS = 8
"""A leaf's number fits a byte."""
