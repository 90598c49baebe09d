"""What a section of the page is: a declaration, `SPEC`, and a function `body`."""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from depthgauge._registry import Registry
from depthgauge.errors import BadDeclaration

if TYPE_CHECKING:
    from markupsafe import Markup

    from depthgauge.report.page.model import Page


@dataclass(frozen=True, slots=True)
class SectionSpec:
    """The declaration of a section."""

    name: str
    """Unique; also its address in the page: `report.html#leaderboard`."""
    title: str
    """The heading. `{main}` stands for the id of the main score."""
    link: str
    """A word or two for the list of sections at the top of the page."""
    order: float
    """Sections appear by increasing order. Ours have 10, 20, 30 ..."""

    def __post_init__(self) -> None:
        problems = list(_problems(self))
        if problems:
            raise BadDeclaration(f"section '{self.name}': {'; '.join(problems)}.")


def _problems(spec: SectionSpec) -> Iterator[str]:
    if not re.fullmatch(r"[a-z][a-z0-9-]*", spec.name):
        yield "a name consists of lower-case letters, digits and -"
    if not spec.title or not spec.link:
        yield "title and link must not be empty"
    if not math.isfinite(spec.order):
        yield f"order is {spec.order} but must be a finite number"


@dataclass(frozen=True, slots=True)
class PageSection:
    """A registered section."""

    spec: SectionSpec
    body: Callable[[Page], Markup | None]
    """The HTML below the heading; None if a page has nothing to show there."""


def _collect(module: Any) -> Iterator[tuple[str, PageSection]]:
    spec = getattr(module, "SPEC", None)
    if not isinstance(spec, SectionSpec):
        return
    body = getattr(module, "body", None)
    if not callable(body) or len(inspect.signature(body).parameters) != 1:
        raise BadDeclaration(f"{module.__name__}: a section needs a function body(page).")
    yield spec.name, PageSection(spec, body)


SECTIONS: Registry[PageSection] = Registry(
    "section of the report", "depthgauge.report.sections", collect=_collect
)
"""All sections by name."""


def ordered_sections() -> list[PageSection]:
    """All sections in the order of the page."""
    return sorted(SECTIONS.values(), key=lambda section: (section.spec.order, section.spec.name))
