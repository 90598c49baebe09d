"""The templates of the pages: autoescaped, strict, in the colours of the report."""

from __future__ import annotations

import functools
import gzip
import hashlib
from dataclasses import dataclass
from importlib import resources
from typing import Any

from fastapi import Request
from fastapi.responses import HTMLResponse
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from depthgauge._tables import show_number
from depthgauge.report.page.templates import asset
from depthgauge.report.sanitize import clean, sortable
from depthgauge.serve.storage.models import User
from depthgauge.serve.submissions.details import DETAILS
from depthgauge.serve.web.islands import entry
from depthgauge.serve.web.security import csrf_token, web_of
from depthgauge.serve.web.views import day, minute


@dataclass(frozen=True, slots=True)
class StyleSheet:
    """The style of all pages."""

    text: str
    packed: bytes
    digest: str
    """In its address, so that browsers may keep it."""


_STYLES = ("site.css", "exhibits.css", "desk.css")


@functools.cache
def style_sheet() -> StyleSheet:
    """The report's style, and what only a site has."""
    templates = resources.files("depthgauge.serve.web").joinpath("templates")
    own = [templates.joinpath(name).read_text("utf-8") for name in _STYLES]
    text = f"{asset('report.css')}{''.join(own)}"
    digest = hashlib.sha256(text.encode()).hexdigest()[:12]
    return StyleSheet(text, gzip.compress(text.encode(), mtime=0), digest)


@functools.cache
def _environment() -> Environment:
    made = Environment(
        loader=PackageLoader("depthgauge.serve.web"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=lambda value: clean(value) if type(value) is str else value,
    )
    made.filters |= {
        "day": day,
        "minute": minute,
        "number": _number,
        "duration": _duration,
        "bytes": _bytes,
        "sortable": _sortable,
        "ticked": _ticked,
        "opening": opening,
    }
    made.globals |= {
        "islands": entry(),
        "details_form": DETAILS,
        "style_sheet": f"/static/site.{style_sheet().digest}.css",
    }
    return made


def _duration(seconds: float) -> str:
    """A time with two or three digits: `2.8 ms`, `1.4 s`."""
    unit, value = ("ms", 1000 * seconds) if seconds < 1 else ("s", seconds)
    return f"{float(f'{value:.3g}'):g} {unit}"


def _number(value: float | None) -> str:
    return "-" if value is None else show_released(value)


def show_released(value: float) -> str:
    """A released value.

    >>> show_released(0.5), show_released(12.345678)
    ('0.5', '12.346')
    """
    # Released values are rounded: zeros that we add would look like digits that are known.
    return min(f"{value:.6g}", show_number(value), key=len)


def opening(text: str) -> tuple[str, str]:
    """The first sentences of a text, and the rest, which may be folded.

    >>> opening("Short. " * 3), opening("x" * 200 + ". Then. More.")[1]
    (('Short. Short. Short.', ''), 'Then. More.')
    """
    end = text.find(". ", _OPENING)
    return (text.strip(), "") if end < 0 else (text[: end + 1], text[end + 2 :].strip())


_OPENING = 160
"""Characters after which a sentence may end an opening."""


def _ticked(text: str) -> Markup:
    """Text in which `names` between ticks are code."""
    parts = [Markup.escape(clean(part)) for part in text.split("`")]
    if len(parts) % 2 == 0:
        return Markup.escape(clean(text))
    return Markup().join(
        Markup("<code>{}</code>").format(part) if place % 2 else part
        for place, part in enumerate(parts)
    )


def _sortable(value: float | None) -> str:
    return "" if value is None else sortable(value)


def _bytes(size: int) -> str:
    for unit, name in ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")):
        if size >= unit:
            return f"{size / unit:.3g} {name}"
    return f"{size} bytes"


def rendered(template: str, **values: Any) -> str:
    """A page that needs no site: no visitor, no forms."""
    return _environment().get_template(template).render(**values)


def page(
    request: Request, name: str, user: User | None, *, status: int = 200, **values: Any
) -> HTMLResponse:
    """A page for a visitor."""
    text = (
        _environment()
        .get_template(f"{name}.html.j2")
        .render(
            user=user,
            csrf=csrf_token(request),
            settings=web_of(request).settings,
            status=status,
            **values,
        )
    )
    return HTMLResponse(text, status)
