from typing import Any

from webwinnow.page._htmltree import HtmlTree

def lay_out(tree: HtmlTree, max_nodes: int, max_depth: int, max_attributes: int) -> dict[str, Any]: ...
