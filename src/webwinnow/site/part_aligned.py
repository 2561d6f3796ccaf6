"""Part `aligned`: our variant of the site style tree, whose pages are aligned (`alignedtree`)."""

from __future__ import annotations

from webwinnow.site.alignedtree import AlignedFinisher
from webwinnow.site.styletree import ALIGNED_CUT
from webwinnow.site.treepart import NoiseTreePart


class AlignedPart(NoiseTreePart):
    """The tree of `ALIGNED_CUT`."""

    NAME = READS = "aligned"
    ABOUT, RANK, CUT = "site style tree of method aligned", 20, ALIGNED_CUT
    FINISH = AlignedFinisher


PART = AlignedPart
