"""One part of a page."""

from __future__ import annotations

from dataclasses import dataclass

from markupsafe import Markup


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the page with its heading."""

    id: str
    title: str
    nav: str
    """A word or two for the list at the top."""
    body: Markup
