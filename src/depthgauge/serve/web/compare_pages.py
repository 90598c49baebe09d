"""Methods side by side: maps under a wipe, differences, and whether they can be told apart."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import HTMLResponse, Response
from sqlalchemy.orm import Session

from depthgauge.analysis.compare import Change, compare_methods
from depthgauge.errors import DepthgaugeError, Refused
from depthgauge.quantities import QUANTITIES
from depthgauge.report.pictures.colour_bar import colour_bar
from depthgauge.report.pictures.model import Picture
from depthgauge.report.tables.numbers import unit_after_number
from depthgauge.serve.leaderboards.released import ReleasedEntry, released_run
from depthgauge.serve.leaderboards.states import protocol_of
from depthgauge.serve.storage.database import reading
from depthgauge.serve.storage.models import Benchmark, Submission, User
from depthgauge.serve.web import views
from depthgauge.serve.web.compared_maps import compared_maps
from depthgauge.serve.web.figures import Figure, by_kind, figure
from depthgauge.serve.web.kept import Exhibit, exhibit_of_benchmark, exhibit_of_submission
from depthgauge.serve.web.method_pages import published, unique_labels
from depthgauge.serve.web.rendering import page, show_released
from depthgauge.serve.web.sample_pages import MOST_METHODS, clip_views, require_sample, visible
from depthgauge.serve.web.security import Web, visitor, web_of

compare_pages = APIRouter(include_in_schema=False)
Visitor = Annotated[User | None, Depends(visitor)]
Methods = Annotated[list[str] | None, Query(max_length=50)]
_FIRST = 2
"""Methods that are compared if nobody chose others."""


@dataclass(frozen=True)
class Chosen:
    """What is compared."""

    benchmark: Benchmark
    sample: str
    submissions: Sequence[Submission]
    labels: Mapping[str, str]
    exhibits: Mapping[str, Exhibit]
    """By submission; only those that were drawn."""
    others: Sequence[Submission]
    """All that can be chosen."""
    scenes: Exhibit | None

    @property
    def query(self) -> str:
        """The same comparison in an address."""
        pairs = [("sample", self.sample), *(("method", one.id) for one in self.submissions)]
        return urlencode(pairs)


@compare_pages.get("/benchmarks/{benchmark_id}/compare")
def compare_page(
    request: Request, benchmark_id: str, user: Visitor, method: Methods = None, sample: str = ""
) -> HTMLResponse:
    """Two or more methods on a benchmark, and their maps of one sample."""
    web = web_of(request)
    with reading(web.database) as session:
        chosen = _chosen(web, session, user, benchmark_id, method or [], sample)
        statements = _statements(chosen)
    return page(
        request,
        "compare",
        user,
        benchmark=chosen.benchmark,
        sample=chosen.sample,
        query=chosen.query,
        methods=[
            {"id": one.id, "label": chosen.labels[one.id], "chosen": one in chosen.submissions}
            for one in chosen.others
        ],
        shown=[{"id": one.id, "label": chosen.labels[one.id]} for one in chosen.submissions],
        statements=statements,
        has_intervals=any(row["low"] is not None for each in statements for row in each["rows"]),
        estimates=_sides(chosen, "estimate"),
        errors=_sides(chosen, "error"),
        clip=_clip(chosen),
        together=[_together(chosen, *each) for each in _maps(chosen).items()],
        most=MOST_METHODS,
    )


@compare_pages.get("/benchmarks/{benchmark_id}/compare/{name}.webp")
def compare_picture(
    request: Request,
    benchmark_id: str,
    name: str,
    user: Visitor,
    method: Methods = None,
    sample: str = "",
) -> Response:
    """A picture about all methods that are compared."""
    web = web_of(request)
    with reading(web.database) as session:
        chosen = _chosen(web, session, user, benchmark_id, method or [], sample)
    found = _maps(chosen).get(name)
    if found is None:
        raise Refused("not-found", "There is no such picture")
    headers = {"Cache-Control": "private, max-age=300"}
    return Response(found.data, media_type="image/webp", headers=headers)


def _chosen(
    web: Web,
    session: Session,
    user: User | None,
    benchmark_id: str,
    methods: Sequence[str],
    sample: str,
) -> Chosen:
    row = views.find_benchmark_row(session, benchmark_id)
    sample = sample or row.samples[0]
    require_sample(row, sample)
    others = published(session, row)
    names = list(dict.fromkeys(methods))[:MOST_METHODS]
    given = [visible(session, user, benchmark_id, one) for one in names]
    submissions = given or list(others[:_FIRST])
    every = [*others, *(one for one in given if one.id not in {each.id for each in others})]
    exhibits = {
        one.id: found
        for one in submissions
        if (found := exhibit_of_submission(web.site, session, one.id)) is not None
    }
    scenes = exhibit_of_benchmark(web.site, session, benchmark_id)
    return Chosen(row, sample, submissions, unique_labels(every), exhibits, every, scenes)


def _sides(chosen: Chosen, kind: str) -> list[Figure]:
    """The same map of every method; the truth before estimates."""
    found = []
    known = None if chosen.scenes is None else chosen.scenes.sample(chosen.sample)
    if kind == "estimate" and chosen.scenes is not None and known and known.get("truth"):
        tiles = known["truth_tiles"]
        of = f"sample {chosen.sample}"
        found.append(figure(chosen.scenes, known["truth"], of=of, caption="truth", tiles=tiles))
    for one in chosen.submissions:
        exhibit = chosen.exhibits.get(one.id)
        drawn = None if exhibit is None else exhibit.sample(chosen.sample)
        record = None if drawn is None else by_kind(drawn["pictures"]).get(kind)
        if exhibit is not None and drawn is not None and record is not None:
            label = chosen.labels[one.id]
            of, tiles = f"{label}, sample {chosen.sample}", drawn["tiles"].get(kind, "")
            found.append(figure(exhibit, record, of=of, caption=label, tiles=tiles))
    return found


def _clip(chosen: Chosen) -> list[dict[str, Any]]:
    """The frames of a clip: truth and estimates side by side."""
    known = None if chosen.scenes is None else chosen.scenes.sample(chosen.sample)
    if chosen.scenes is None or not known or not known.get("clip"):
        return []
    sources = [("truth", chosen.scenes, known)]
    for one in chosen.submissions:
        exhibit = chosen.exhibits.get(one.id)
        drawn = None if exhibit is None else exhibit.sample(chosen.sample)
        if exhibit is not None and drawn is not None:
            sources.append((chosen.labels[one.id], exhibit, drawn))
    return clip_views(sources, chosen.sample, only="truth")


def _maps(chosen: Chosen) -> Mapping[str, Picture]:
    kept, labels = [], []
    for one in chosen.submissions:
        exhibit = chosen.exhibits.get(one.id)
        drawn = None if exhibit is None else exhibit.sample(chosen.sample)
        if exhibit is not None and drawn is not None and drawn["errors"]:
            kept.append((exhibit.pack, drawn["errors"]))
            labels.append(chosen.labels[one.id])
    unit = QUANTITIES[chosen.benchmark.quantity].unit
    return compared_maps(tuple(kept), tuple(labels), unit)


def _together(chosen: Chosen, name: str, picture: Picture) -> dict[str, Any]:
    place = f"/benchmarks/{chosen.benchmark.id}/compare/{name}.webp?{chosen.query}"
    of = f"{picture.caption}, sample {chosen.sample}"
    bar = picture.bar
    return {
        "figure": Figure(place, *picture.size_px, picture.caption, of, is_map=True),
        "key": "" if bar is None else colour_bar(bar, f"key-{name}"),
    }


# --- statements -----------------------------------------------------------------------------------


def _statements(chosen: Chosen) -> list[dict[str, Any]]:
    """What can be said about the first method and each of the others."""
    if len(chosen.submissions) < 2:
        return []
    row = chosen.benchmark
    entries = [_entry(one, chosen.labels[one.id]) for one in chosen.submissions]
    run = released_run(protocol_of(row), row.samples, row.scenes or {}, entries)
    first = entries[0].label
    found: list[dict[str, Any]] = []
    for other in entries[1:]:
        try:
            changes = compare_methods(run, first, other.label)
        except DepthgaugeError as error:
            found.append({"sentence": str(error), "first": first, "other": other.label, "rows": []})
            continue
        units = {column["id"]: column["unit"] for column in row.columns}
        ordered = [each for name in units for each in changes if each.score_id == name]
        main = next(iter(ordered), None)
        found.append(
            {
                "first": first,
                "other": other.label,
                "sentence": "" if main is None else sentence(main, units[main.score_id]),
                "rows": [_row(each, units[each.score_id]) for each in ordered],
            }
        )
    return found


def _entry(one: Submission, label: str) -> ReleasedEntry:
    values: dict[str, dict[str, float | None]] = {}
    for score in one.scores:
        values.setdefault(score.sample, {})[score.score] = score.value
    return ReleasedEntry(
        submission=one.id,
        method=one.method,
        version=one.version,
        team=one.team.name,
        baseline=one.visibility == "baseline",
        tier=one.details.get("tier", ""),
        values=values,
        label=label,
    )


def sentence(change: Change, unit: str) -> str:
    """Whether two methods can be told apart by a score, in words."""

    def shown(value: float) -> str:
        return f"{show_released(value)}{unit_after_number(unit)}"

    old, new = shown(change.old), shown(change.new)
    values = f"{change.score_id}: {old} for {change.old_label}, {new} for {change.new_label}"
    if change.verdict in ("better", "worse"):
        pair = (change.new_label, change.old_label)
        best, worst = pair if change.verdict == "better" else pair[::-1]
        low, high = (shown(value) for value in _bounds(change))
        return (
            f"{best} is better than {worst}: the difference is more than chance between the "
            f"{change.samples} samples (interval of the difference {low} to {high}). {values}."
        )
    if change.verdict == "cannot be told apart":
        return (
            f"{change.old_label} and {change.new_label} cannot be told apart on these "
            f"{change.samples} samples. {values}."
        )
    why = {
        "too few samples": "There are too few samples to say whether the difference is chance",
        "incomplete": "One of them has no value",
        "no interval": "Scores of single samples are not released, so nobody can say whether the "
        "difference is chance",
    }
    return f"{why[change.verdict]}. {values}."


def _bounds(change: Change) -> tuple[float, float]:
    return change.interval.low, change.interval.high


def _row(change: Change, unit: str) -> dict[str, Any]:
    shown = asdict(change)
    low, high = _bounds(change)
    return {
        **shown,
        "unit": unit,
        "old": _known(change.old),
        "new": _known(change.new),
        "difference": _known(change.difference),
        "low": _known(low),
        "high": _known(high),
    }


def _known(value: float) -> float | None:
    return value if math.isfinite(value) else None
