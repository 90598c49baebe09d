"""An extension of Griffe, which reads docstrings for the site: examples become code blocks."""

from __future__ import annotations

import re
from typing import Any

import griffe

_EXAMPLE = re.compile(r"(?:^|(?<=\n\n))(?P<indent> *)>>> .*?(?=\n\n|\Z)", flags=re.DOTALL)


class Examples(griffe.Extension):
    """Puts examples with `>>>`, which Markdown reads as quotations, into fences."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Called for everything that may have a docstring."""
        if obj.docstring:
            obj.docstring.value = fence_examples(obj.docstring.value)


def fence_examples(text: str) -> str:
    """The docstring with a fence around every paragraph that begins with `>>>`."""
    return _EXAMPLE.sub(
        lambda m: f"{m['indent']}```python\n{m[0]}\n{m['indent']}```", text.strip("\n")
    )
