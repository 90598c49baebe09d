"""Counts as a picture: truth against estimate, with the line of equal values."""

from __future__ import annotations

import base64
import math

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from depthgauge.analysis.maps.scatter import Scatter
from depthgauge.report.charts.svg import Scale, chart, nice_ticks, path, shorten, tag, words
from depthgauge.report.pictures.colours import LEVELS, colour_table
from depthgauge.report.pictures.encode import encode

_SIDE, _LEFT, _TOP = 200.0, 44.0, 22.0


def density_plot(scatter: Scatter, label: str, unit: str, name: str) -> Markup:
    """How often each estimate (upwards) occurs with each true value (to the right)."""
    low = float(min(scatter.truth_edges[0], scatter.estimate_edges[0]))
    high = float(max(scatter.truth_edges[-1], scatter.estimate_edges[-1]))
    x = Scale(low, high, _LEFT, _LEFT + _SIDE)
    y = Scale(low, high, _TOP + _SIDE, _TOP)
    left, right = x(float(scatter.truth_edges[0])), x(float(scatter.truth_edges[-1]))
    bottom, top = y(float(scatter.estimate_edges[0])), y(float(scatter.estimate_edges[-1]))
    picture = tag(
        "image",
        href=data_url(encode(_painted(scatter.counts), lossless=True)),
        x=left,
        y=top,
        width=right - left,
        height=bottom - top,
        preserveAspectRatio="none",
        class_="pixels",
    )
    panel = tag("rect", x=_LEFT, y=_TOP, width=_SIDE, height=_SIDE, class_="panel")
    identity = tag("path", d=path([(x(low), y(low)), (x(high), y(high))]), class_="identity")
    heading = words(shorten(label, 190), _LEFT, _TOP - 8, "label strong")
    size = (_LEFT + _SIDE + 12, _TOP + _SIDE + 40)
    about = f"{int(np.sum(scatter.counts)):,} pixels; {_near(scatter)}"
    parts = (panel, picture, identity, heading, *_ticks(x, y, unit))
    return chart(name, f"Truth against estimate of {label}", about, size, *parts, class_="small")


def data_url(data: bytes) -> str:
    """The bytes of a picture as a data URL."""
    kinds = {b"\x89PNG": "png", b"RIFF": "webp", b"\xff\xd8\xff": "jpeg"}
    kind = next((kind for start, kind in kinds.items() if data.startswith(start)), "png")
    return f"data:image/{kind};base64,{base64.b64encode(data).decode('ascii')}"


def _painted(counts: NDArray[np.integer]) -> NDArray[np.uint8]:
    """RGBA, truth to the right and estimate upwards; logarithmic, empty bins transparent."""
    upright = np.asarray(counts, np.float64).T[::-1]
    share = np.log1p(upright) / (math.log1p(float(upright.max())) if upright.max() > 0 else 1.0)
    table = colour_table("viridis")[0]
    colours = table[np.rint(share * (LEVELS - 1)).astype(np.intp)]
    alpha = np.where(upright > 0, 255, 0).astype(np.uint8)
    return np.ascontiguousarray(np.dstack([colours, alpha]))


def _ticks(x: Scale, y: Scale, unit: str) -> list[Markup]:
    parts = []
    for tick in nice_ticks(x.low, x.high, 4):
        parts.append(words(f"{tick:g}", x(tick), y.start + 15, "tick", "middle"))
        parts.append(words(f"{tick:g}", _LEFT - 6, y(tick) + 4, "tick", "end"))
    title = f"truth \u2192 estimate \u2191 in {unit}".removesuffix(" in ")
    parts.append(words(title, _LEFT, y.start + 32, "axis-title"))
    return parts


def _near(scatter: Scatter) -> str:
    """The share of pixels in the bins that the identity line crosses."""
    if scatter.counts.shape[0] != scatter.counts.shape[1] or not np.sum(scatter.counts):
        return "the line is where both are equal"
    share = 100 * float(np.trace(scatter.counts)) / float(np.sum(scatter.counts))
    return f"{share:.0f} % of them in the bins on the line of equal values"
