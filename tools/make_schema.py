"""Write docs/record.schema.json, the JSON Schema of a record: `python tools/make_schema.py`."""

from __future__ import annotations

import json
from pathlib import Path

from webwinnow.record.fields import json_schema

SCHEMA = Path(__file__).parents[1] / "docs" / "record.schema.json"


def main() -> None:
    """Write the file."""
    SCHEMA.write_text(json.dumps(json_schema(), indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
