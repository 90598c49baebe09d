"""What authors say about a method: the fields of the submission form, and what may be in them.

They are those of the submission page of the 4D light field benchmark, and the time that the method
takes.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from depthgauge.errors import Refused
from depthgauge.serve.accounts.people import plain_line

_LINK = re.compile(r"https?://[^\s\"'<>\\]{1,900}")
_MOST_LINES = 60
_MOST_CHARACTERS = 4000


@dataclass(frozen=True, slots=True)
class Detail:
    """A field of the form."""

    label: str
    kind: Literal["line", "text", "link", "number", "code"] = "line"
    """`text` and `code` have several lines; a `number` is positive."""
    hint: str = ""


DETAILS: dict[str, Detail] = {
    "title": Detail("Title of the method"),
    "description": Detail("Description", "text", "What it does, in a few sentences."),
    "tier": Detail("Tier", hint="What the method was given, where the benchmark has tiers."),
    "setup": Detail("Camera setup", hint="Pairs, full light field, cross, centre row, video."),
    "language": Detail("Programming language"),
    "environment": Detail("Runtime environment", hint="Processor, graphics card, memory."),
    "runtime": Detail("Runtime", "number", "Seconds for one sample, on average."),
    "link": Detail("Project website", "link"),
    "code": Detail("Source code", "link"),
    "publication": Detail("Title of the publication"),
    "authors": Detail("Authors"),
    "venue": Detail("Conference or journal"),
    "paper": Detail("Address of the paper", "link"),
    "bibtex": Detail("BibTeX", "code"),
}
"""By the name that is stored."""


def checked(given: Mapping[str, str]) -> dict[str, str]:
    """What authors wrote, without what is empty, in the order of the form.

    Raises:
        Refused: A field does not exist, or what is in it is not possible.
    """
    if unknown := set(given) - set(DETAILS):
        raise Refused("invalid", f"'{min(unknown)[:40]}' is none of {', '.join(DETAILS)}")
    return {name: _checked(name, given[name]) for name in DETAILS if given.get(name, "").strip()}


def _checked(name: str, text: str) -> str:
    kind = DETAILS[name].kind
    if kind in ("text", "code"):
        return _lines(text, name)
    line = plain_line(text, name, 1000)
    if kind == "link" and not _LINK.fullmatch(line):
        raise Refused("invalid", f"The {name} must begin with http:// or https://")
    if kind == "number" and not re.fullmatch(r"\d{1,7}(\.\d{1,6})?", line):
        raise Refused("invalid", f"The {name} is a number of seconds, such as 0.25")
    return line


def _lines(text: str, name: str) -> str:
    """Text of several lines, without control characters."""
    plain = [
        "".join(c if c.isprintable() else " " for c in line).rstrip() for line in text.splitlines()
    ]
    joined = "\n".join(plain).strip()
    if len(plain) > _MOST_LINES or len(joined) > _MOST_CHARACTERS:
        raise Refused(
            "invalid", f"The {name} has at most {_MOST_LINES} lines, {_MOST_CHARACTERS} characters"
        )
    return joined
