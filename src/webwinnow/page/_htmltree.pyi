from collections.abc import Iterator

class HtmlTree:
    left: str | None
    def __init__(self, page: bytes, most: int, xml_checked: bool = False, most_attributes: int = 1_000) -> None: ...
    def head_elements(self) -> Iterator[tuple[str, dict[str, str], str]]: ...

NAMES: list[str]

def utf8_kind(page: bytes) -> int: ...
