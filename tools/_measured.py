"""Parts of pages that a script measures: their text stands between two comments.

<!-- measured: scores -->
<!-- /measured -->
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[1] / "docs"
_BAR = re.compile(r"(?<!\\)\|")
_PART = re.compile(r"<!-- measured: (?P<name>[\w -]+) -->\n.*?<!-- /measured -->", flags=re.DOTALL)


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table; bars inside of cells are escaped, as in |error|."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(_BAR.sub(r"\|", c) for c in line) + " |" for line in lines)


def update(page: str, parts: Mapping[str, str], command: str, check: bool) -> bool:
    """Writes the parts into a page, or says that it is stale; True where all is well.

    Parts that others measure are left as they are. A command without a dot is one of `tools`.
    """
    command = command if "." in command else f"tools.{command}"
    path = FOLDER / page
    before = path.read_text(encoding="utf-8")
    note = f"<!-- Written by `python -m {command}`; changes here are lost. -->"

    def fill(part: re.Match[str]) -> str:
        name = part["name"]
        if name not in parts:
            return part[0]
        return f"<!-- measured: {name} -->\n{note}\n\n{parts[name]}\n\n<!-- /measured -->"

    after = _PART.sub(fill, before)
    if after == before:
        return True
    if not check:
        path.write_text(after, encoding="utf-8")
    verb = f"is stale; run `python -m {command}`" if check else "written"
    sys.stdout.write(f"docs/{page}: {verb}\n")
    return not check
