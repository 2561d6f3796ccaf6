"""Records and lists of siblings of `webwinnow.page._structures` in plain Python: slow and obvious, for tests."""

from __future__ import annotations

from collections.abc import Iterator

from webwinnow.page.blocks import cut
from webwinnow.page.structures import LEAST_RECORDS, LONGEST_ITEM, LONGEST_RECORD, MOST_FIELDS, NO_RECORDS, Structures
from webwinnow.page.tree import PageTree

LISTS = ("ul", "ol", "menu", "dir")


def spoken(tree: PageTree) -> list[tuple[int, int]]:
    """The element and the characters of each block with text, white space at the start of a run left out."""
    blocks, found = cut(tree), []
    for b in range(len(blocks)):
        runs = [tree.run(r) for r in range(int(blocks.first_run[b]), int(blocks.first_run[b + 1]))]
        if any(map(str.strip, runs)):
            found.append((int(blocks.owner[b]), sum(len(run.lstrip()) for run in runs if run.strip())))
    return found


def alike(tree: PageTree, table_of: list[int]) -> Iterator[tuple[str, list[int]]]:
    """Yield `records` or `items` and the siblings that are these."""
    said = spoken(tree)

    def inside(node: int) -> list[int]:
        return [marks for owner, marks in said if node <= owner < tree.end[node]]

    for parent in range(len(tree)):
        is_list, group = tree.tag_name(parent) in LISTS, list[int]()
        children = [node.index for node in tree[parent].children if inside(node.index)]
        for node in [*children, None]:
            stays = node is not None and table_of[node] < 0 and tree.tag_name(node) not in NO_RECORDS
            same = stays and group and tree.tag[node] == tree.tag[group[-1]]
            same = same and (is_list or tree.tag_name(node) == "tr" or tree.style[node] == tree.style[group[-1]])
            if not same:
                yield from _judged(group, [inside(one) for one in group], is_list=is_list)
                group = []
            if stays:
                group.append(node)


def _judged(group: list[int], inside: list[list[int]], *, is_list: bool) -> Iterator[tuple[str, list[int]]]:
    count, marks = len(group), sum(map(sum, inside))
    if count < LEAST_RECORDS:
        return
    if 2 * sum(len(blocks) > 1 for blocks in inside) >= count:
        if sum(map(len, inside)) <= MOST_FIELDS * count and marks <= LONGEST_RECORD * count:
            yield "records", group
    elif marks <= LONGEST_ITEM * count and not is_list:
        yield "items", group


def check(tree: PageTree, found: Structures) -> None:
    """Raise `AssertionError` unless `found` has these records, fields and lists."""
    kinds = list(alike(tree, found.table_of.tolist()))
    records = [group for kind, group in kinds if kind == "records"]
    items = [group for kind, group in kinds if kind == "items"]
    numbered = {node: (group, k) for group in records for k, node in enumerate(group)}
    listed = {node: len(group) for group in items for node in group}
    fields: dict[int, list[list[int]]] = {}
    owners = {owner for owner, _ in spoken(tree)}
    assert found.records[0].tolist() == sorted(numbered)
    assert sorted(found.groups[1].tolist()) == sorted(map(len, records))
    for node in range(1, len(tree)):
        record, path = node, []
        while record and record not in numbered:
            path.append(int(tree.style[record]))
            record = int(tree.parent[record])
        own = int(found.record_of[node])
        assert (found.records[0, own] if own >= 0 else 0) == record
        if own >= 0:
            group, number = numbered[record]
            at = int(found.records[1, own])
            assert found.records[2, own] == number
            assert found.groups[:2, at].tolist() == [tree.parent[record], len(group)]
            if node in owners:
                known = fields.setdefault(at, [])
                if path not in known:
                    known.append(path)
                assert found.field_of[node] == known.index(path)
        if own < 0 or node not in owners:
            assert found.field_of[node] == -1
        item = node
        while item and item not in listed and tree.tag_name(int(tree.parent[item])) not in LISTS:
            item = int(tree.parent[item])
        assert found.item_of[node] == (item or -1)
        if item in listed and tree.tag_name(int(tree.parent[item])) not in LISTS:
            assert found.lists[:2, found.list_of[node]].tolist() == [tree.parent[item], listed[item]]
    assert found.groups[2].tolist() == [len(fields.get(k, ())) for k in range(found.groups.shape[1])]
