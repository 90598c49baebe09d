"""Score ids: `[part/]metric[:params][@region]`, in tables, JSON, file names and on command lines.

The given parameters follow in declared order, joined by commas, with numbers as `%g`, or with more
digits if `%g` would round them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from depthgauge._registry import nearest
from depthgauge.errors import BadScoreId
from depthgauge.metrics import METRICS, Metric


@dataclass(frozen=True)
class ScoreSpec:
    """One number to compute: the metric, its parameters and the region."""

    id: str
    metric: Metric
    params: Mapping[str, Any]
    """All parameters, with defaults filled in."""
    region: str
    resolution: str = ""
    """The resolution of the truth; empty: the default one."""
    part: str = ""
    """The part of the quantity; empty: the main map."""


def format_value(value: Any) -> str:
    """A parameter as it is written in an id: short, but never rounded.

    >>> format_value(2.0), format_value(1.953125)
    ('2', '1.953125')
    """
    if isinstance(value, str):
        return value
    short = f"{value:g}"
    return short if float(short) == value else repr(value)


def make_spec(
    metric: str,
    params: Mapping[str, Any],
    region: str,
    name: str = "",
    resolution: str = "",
    part: str = "",
) -> ScoreSpec:
    """A spec with its id; `params` are those that were given.

    The region "" is the whole map; the id then has no `@`.
    """
    declared = METRICS[metric]
    bound = declared.bind(params)
    given = ",".join(format_value(bound[key]) for key in declared.params if key in params)
    made = f"{metric}:{given}" if given else metric
    made = f"{part}/{made}" if part else made
    shown = f"{name or made}@{region}" if region else name or made
    return ScoreSpec(shown, declared, bound, region or "all", resolution, part)


def parse_metric(text: str) -> tuple[str, dict[str, Any]]:
    """Name and given parameters of `metric[:p1,p2]`, in declared order or by name.

    A word that only a later parameter can be leaves out those before it.

    >>> parse_metric("d1:3,0.05")
    ('d1', {'threshold': '3', 'share': '0.05'})
    >>> parse_metric("multi_bad:3,transparent")
    ('multi_bad', {'tau': '3', 'material': 'transparent'})
    >>> parse_metric("d1:share=0.1")
    ('d1', {'share': '0.1'})
    """
    name, colon, rest = text.strip().partition(":")
    values = rest.split(",") if colon else []
    names = list(METRICS[name].params)
    takes = f"{name}:{','.join(names)}" if names else f"{name} (no parameters)"
    if len(values) > len(names) or (colon and not all(v.strip() for v in values)):
        raise BadScoreId(f"'{text}' is not valid; write {takes}.")
    given: dict[str, Any] = {}
    free = names
    for place, value in enumerate(values):
        param, equals, number = (part.strip() for part in value.partition("="))
        if not equals and any("=" in before for before in values[:place]):
            raise BadScoreId(f"'{text}': values without a name come before those with one.")
        if not equals:
            free = free[_skipped(METRICS[name], free, param) :]
            if not free:
                raise BadScoreId(f"'{text}' is not valid; write {takes}.")
            number, param, free = param, free[0], free[1:]
        key, word = param, number
        if key not in names:
            hint = nearest(key, names) or f"It has: {', '.join(names)}."
            raise BadScoreId(f"'{text}': {name} has no parameter '{key}'. {hint}")
        if key in given:
            raise BadScoreId(f"'{text}' gives {key} twice.")
        given[key] = word
    return name, given


def _skipped(metric: Metric, free: Sequence[str], word: str) -> int:
    """How many parameters a word leaves out: those before the one that has it as a choice."""
    later = (place for place, key in enumerate(free) if word in metric.choices.get(key, ()))
    return next(later, 0)


def file_name(score_id: str) -> str:
    """An id as part of a file name or URL.

    >>> file_name("d1:3,0.05@all")
    'd1_3_0.05_all'
    """
    return re.sub(r"[^A-Za-z0-9.-]", "_", score_id)
