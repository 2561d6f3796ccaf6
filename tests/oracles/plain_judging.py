"""`webwinnow.judge._judging` in plain Python: slow and obvious; tests compare the compiled version with it."""

from __future__ import annotations

import re
from math import exp, log

import numpy as np
from numpy.typing import NDArray


def spread(
    first_run, said, run_owner, visible, probability, keep, posts, whole, headed, stays, goes, below, teasers, further,
    repeated, reasons,
):  # fmt: skip
    """Kept runs, runs of posts, the reason of each run, the score of each node: rule by rule over all runs."""
    hidden, gone, content, heading, kept_posts, gone_posts, teaser, other, of_site = reasons
    row = np.full(len(run_owner), -1)
    for k, b in enumerate(said):
        row[first_run[b] : first_run[b + 1]] = k

    def over_runs(of_blocks) -> NDArray[np.bool_]:
        return np.array([of_blocks is not None and k >= 0 and bool(of_blocks[k]) for k in row], np.bool_)

    seen, kept = np.asarray(visible)[run_owner].astype(np.bool_), over_runs(keep)
    reason = np.where(kept, content, np.where(seen, gone, hidden)).astype(np.uint8)
    decided = over_runs(whole) & (kept | (reason == gone))
    reason[decided] = [whole[k] for k in row[decided]]
    reason[over_runs(headed)] = heading
    reason[over_runs(stays)] = kept_posts
    reason[over_runs(goes) & (over_runs(below) | (reason == gone))] = gone_posts
    reason[over_runs(teasers) & ~kept] = teaser
    reason[over_runs(further) & ~kept] = other
    reason[over_runs(repeated) & (reason == gone)] = of_site
    score = np.zeros(len(visible), np.float32)
    for r, node in enumerate(run_owner):
        if row[r] >= 0:
            score[node] = max(score[node], np.float32(probability[row[r]]))
    return kept, over_runs(posts), reason, score


def node_reasons(keep, visible, beside, decoration, reasons) -> NDArray[np.uint8]:
    """The reason of each node; those of the two masks are removed from `keep`."""
    hidden, gone, content, of_beside, of_decoration = reasons
    found = np.where(keep, content, np.where(visible, gone, hidden)).astype(np.uint8)
    for mask, reason in ((beside, of_beside), (decoration, of_decoration)):
        if mask is not None:
            found[mask] = reason
            keep[mask] = False
    return found


def link_shares(parent, tag, link, run_start, run_owner, written, first_run, said) -> NDArray[np.float64]:
    """The share of the characters of each block that are inside links."""

    def is_linked(node: int) -> bool:
        return tag[node] == link or (node > 0 and is_linked(parent[node]))

    shares = []
    for b in said:
        runs = [r for r in range(first_run[b], first_run[b + 1]) if written[r]]
        lengths = [int(run_start[r + 1] - run_start[r]) for r in runs]
        linked = [n for r, n in zip(runs, lengths, strict=True) if is_linked(run_owner[r])]
        shares.append(sum(linked) / max(sum(lengths), 1))
    return np.array(shares)


def ascii_words(name: str, most: int) -> list[str]:
    """The words of a name: letters, cut before a capital after a small letter."""
    return re.findall("[a-z]+", re.sub("(?<=[a-z])(?=[A-Z])", " ", name[:most]).lower())


def whole_reasons(keep, alone, pooled_in, label, level, owner, table_of, record_of, list_of, reasons):
    """The reasons of blocks whose whole decided; 0 for those that are kept or removed as they would be alone."""
    heading, labelled, of_record, of_list, of_table, other, *gone = reasons
    with_records, with_list, with_table, labels_nothing, heads_nothing = gone
    heads, (table, record, listed) = level > 0, (of[owner] >= 0 for of in (table_of, record_of, list_of))
    kept = np.where(heads, heading, np.where(label, labelled, other))
    kept = np.where(pooled_in, np.where(record, of_record, of_list), kept)
    kept[table] = of_table
    removed = np.where(record, with_records, np.where(listed, with_list, 0))
    removed[table] = with_table
    removed[pooled_in & label] = labels_nothing
    removed[pooled_in & heads] = heads_nothing
    return np.where(keep == alone, 0, np.where(keep, kept, removed)).astype(np.uint8)


def may_be_stamps(text, start, stop, wanted, days) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Which of the wanted lines may contain a date, and which contain one of the days: sign by sign."""
    signs = (
        r"[0-9]([./-])[0-9]{1,2}\1[0-9]",
        r"[0-9]:[0-9]",
        r"\s(?:19|20)[0-9]{2}",
        r"(?:or|ce| a)\s[0-9]",
        r"[0-9]\s?[smhdwy](?![0-9a-zA-Z])",
        r"(?=.*[0-9])(?=.*(?:ag.|[\u2e80-\U0010ffff]))",
    )
    dated, named = [], []
    for a, b, want in zip(start, stop, wanted, strict=True):
        line = text[a:b]
        dated.append(bool(want and any(re.search(sign, line, re.DOTALL) for sign in signs)))
        named.append(bool(want and any(text.startswith(day, at) for day in days for at in range(a, b))))
    return np.array(dated, np.bool_), np.array(named, np.bool_)


def pool_records(
    record_of, field_of, records, groups, probability, words, text, share, lower, field_lower, sure, said
) -> NDArray[np.float64]:
    """The probabilities, where all fields of repeated records have that of their group."""
    found = np.array(probability)
    inside = [b for b in range(len(record_of)) if record_of[b] >= 0]
    weight = {b: float(max(words[b], 1)) for b in inside}
    group = {b: int(records[1, record_of[b]]) for b in inside}
    field = {b: (group[b], int(field_of[b])) for b in inside}
    record = {b: int(record_of[b]) for b in inside}
    counts = dict(weight)
    if share is not None:
        new = {b: weight[b] if share[b] < said else 0.0 for b in inside}
        for b in inside:
            same = [a for a in inside if record[a] == record[b]]
            if 2 * sum(new[a] for a in same) >= sum(weight[a] for a in same):
                counts[b] = new[b]

    def odds(of: dict, b: int, counts: dict[int, float]) -> float:
        same = [a for a in inside if of[a] == of[b]]
        if not sum(counts[a] for a in same):
            counts = weight
        return _log_odds(sum(counts[a] * probability[a] for a in same) / sum(counts[a] for a in same))

    texts = {f: [text[b] for b in inside if field[b] == f] for f in set(field.values())}
    repeated = {b: len(texts[field[b]]) > 1 and len(set(texts[field[b]])) == 1 for b in inside}
    foreign_record = {b: odds(record, b, counts) < odds(group, b, counts) - lower for b in inside}
    foreign_field = {b: odds(field, b, counts) < odds(group, b, counts) - field_lower for b in inside}
    rest = {b: 0.0 if foreign_record[b] or foreign_field[b] or repeated[b] else counts[b] for b in inside}
    for b in inside:
        whole = odds(group, b, rest)
        if foreign_record[b]:
            whole = min(whole, odds(record, b, counts))
        if foreign_field[b]:
            whole = min(whole, odds(field, b, counts))
        likely = round(1 / (1 + exp(-whole)), 6)
        if not repeated[b]:
            found[b] = max(probability[b], likely) if probability[b] >= sure else likely
    return found


def _log_odds(p: float) -> float:
    p = min(max(p, 1e-6), 1 - 1e-6)
    return log(p / (1 - p))
