"""Part `cst`: the compressed structure tree (thesis 4.3), which weighs features."""

from __future__ import annotations

from webwinnow.site.styletree import CST_CUT
from webwinnow.site.treepart import TreePart


class CstPart(TreePart):
    """The tree of `CST_CUT`."""

    NAME = READS = "cst"
    ABOUT, RANK, CUT = "compressed structure tree", 30, CST_CUT


PART = CstPart
