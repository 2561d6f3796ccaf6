"""Part `sst`: the published site style tree (thesis 4.2), with the threshold of its importance."""

from __future__ import annotations

from webwinnow.site.styletree import SST_CUT
from webwinnow.site.treepart import NoiseTreePart


class SstPart(NoiseTreePart):
    """The tree of `SST_CUT`."""

    NAME = READS = "sst"
    ABOUT, RANK, CUT = "site style tree of method sst", 10, SST_CUT


PART = SstPart
