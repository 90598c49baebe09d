"""The table of docs/accuracy.md: every figure with what its record says."""

from __future__ import annotations

import json

from tools._measured import table, update
from tools.evidence import FOLDER


def write_page(*, check: bool = False) -> bool:
    """Updates the page; True if it was up to date."""
    rows = []
    for path in sorted(FOLDER.glob("*.json")):
        record = json.loads(path.read_text(encoding="utf-8"))
        tested = sum("expected" in number for number in record["numbers"])
        about = record["about"].partition(". ")[0].rstrip(".")
        rows.append(
            [
                f"[{path.stem}](evidence/{path.name})",
                about,
                record["data"],
                str(tested),
                str(len(record["numbers"]) - tested),
                record["date"],
            ]
        )
    head = ["figure", "what", "measured on", "tested", "reported", "recorded"]
    return update("accuracy.md", {"figures": table(head, rows)}, "evidence", check)
