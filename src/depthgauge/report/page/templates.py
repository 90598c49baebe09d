"""The templates of the report, with autoescaping and harmful characters replaced."""

from __future__ import annotations

import base64
import functools
import hashlib
from collections.abc import Sequence
from importlib import resources
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from depthgauge.report.sanitize import clean


@functools.cache
def _environment() -> Environment:
    return Environment(
        loader=PackageLoader("depthgauge.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_finalize,
    )


def _finalize(value: Any) -> Any:
    return clean(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def render(template: str, **values: Any) -> Markup:
    """Renders a template; the result can safely be inserted into another."""
    return Markup(_environment().get_template(template).render(**values))


def render_charts(
    *,
    texts: Sequence[str],
    charts: Sequence[Markup],
    notes: Sequence[str] = (),
    tables: Sequence[Markup] = (),
    folded: Sequence[tuple[str, Markup]] = (),
) -> Markup:
    """Paragraphs, charts, notes, tables, and tables that are folded."""
    return render(
        "charts.html.j2",
        texts=texts,
        charts=charts,
        notes=[notes] if notes else [],
        tables=tables,
        folded=folded,
    )


def asset(name: str) -> Markup:
    """One of our style sheets or scripts, verbatim."""
    text = resources.files("depthgauge.report").joinpath("templates", name).read_text("utf-8")
    return Markup(text)


def content_hash(text: str) -> str:
    """The name of an inline script in a content security policy."""
    digest = hashlib.sha256(text.encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode('ascii')}"
