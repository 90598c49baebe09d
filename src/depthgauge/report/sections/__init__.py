"""The sections of the HTML page, one module each.

A module joins by having `SPEC = SectionSpec(...)` and a function `body(page)` that returns HTML,
or None if there is nothing to show.
"""

from __future__ import annotations

from depthgauge.report.sections._section import (
    SECTIONS,
    PageSection,
    SectionSpec,
    ordered_sections,
)

__all__ = ["SECTIONS", "PageSection", "SectionSpec", "ordered_sections"]
