"""The page of a method on a benchmark: scores, charts, pictures, provenance, downloads."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request
from fastapi.responses import HTMLResponse
from sqlalchemy import select
from sqlalchemy.orm import Session, selectinload

from depthgauge.report import sanitize
from depthgauge.report.charts.styles import legend
from depthgauge.serve.site import Site
from depthgauge.serve.storage.database import reading
from depthgauge.serve.storage.models import Benchmark, Submission, User
from depthgauge.serve.web import method_charts, views
from depthgauge.serve.web.figures import Figure, by_kind, figure, key
from depthgauge.serve.web.kept import Exhibit, exhibit_of_benchmark, exhibit_of_submission
from depthgauge.serve.web.rendering import page
from depthgauge.serve.web.sample_pages import clip_views, layer_views, visible
from depthgauge.serve.web.security import visitor, web_of

method_pages = APIRouter(include_in_schema=False)
Visitor = Annotated[User | None, Depends(visitor)]
_FIRST_SCORES = 16
"""That are seen at once; the others are folded."""
_OTHERS = 4
"""Other methods whose curves are drawn beside the method's."""


@method_pages.get("/benchmarks/{benchmark_id}/methods/{submission_id}")
def method_page(
    request: Request, benchmark_id: str, submission_id: str, user: Visitor, sample: str = ""
) -> HTMLResponse:
    """Everything about a method on a benchmark; one sample is shown in full."""
    web = web_of(request)
    with reading(web.database) as session:
        row = views.find_benchmark_row(session, benchmark_id)
        one = visible(session, user, benchmark_id, submission_id)
        others = published(session, row)
        exhibit = exhibit_of_submission(web.site, session, one.id)
        scenes = exhibit_of_benchmark(web.site, session, row.id)
        shown = views.submission_view(session, one, user)
        charts = _charts(web.site, session, row, one, others)
        versions = _versions(session, user, one)
    drawn = None if exhibit is None else _drawn(exhibit, scenes, row, label_of(one), sample)
    return page(
        request,
        "method",
        user,
        benchmark=row,
        one=shown,
        label=label_of(one),
        table=_score_table(row, one),
        charts=charts,
        drawn=drawn,
        versions=versions,
        others=[{"id": each.id, "label": label_of(each)} for each in others if each.id != one.id],
        citation=citation(one, row, web.settings.origin),
        index=None if exhibit is None else exhibit.index,
        time_s=_median_time(exhibit),
    )


def label_of(one: Submission) -> str:
    """A method with its version."""
    return f"{one.method} {one.version}".strip()


def published(session: Session, benchmark: Benchmark) -> list[Submission]:
    """The entries that everybody sees, the best first."""
    found = session.scalars(
        select(Submission)
        .where(Submission.benchmark_id == benchmark.id, Submission.state == "scored")
        .where(Submission.visibility.in_(("public", "baseline")), Submission.dry_run.is_(False))
        .options(selectinload(Submission.scores), selectinload(Submission.team))
    )
    column = benchmark.columns[0] if benchmark.columns else {"id": "", "better": "lower"}

    def order(one: Submission) -> tuple[bool, float, str]:
        value = _whole(one).get(column["id"])
        known = 0.0 if value is None else value
        keys = {"lower": known, "higher": -known, "zero": abs(known)}
        return value is None, keys[column["better"]], one.id

    return sorted(found, key=order)


def _whole(one: Submission) -> dict[str, float | None]:
    """The scores of all samples together."""
    return {score.score: score.value for score in one.scores if not score.sample}


def _charts(
    site: Site, session: Session, row: Benchmark, one: Submission, others: Sequence[Submission]
) -> dict[str, Any]:
    """Large charts, small ones along axes of difficulty, and what their lines are."""
    ordered = [one, *(each for each in others if each.id != one.id)]
    labels = unique_labels(ordered)
    values = {labels[each.id]: _whole(each) for each in ordered}
    indices = {}
    for each in ordered[: _OTHERS + 1]:
        exhibit = exhibit_of_submission(site, session, each.id)
        if exhibit is not None:
            indices[labels[each.id]] = exhibit.index
    large, small = [method_charts.strengths(row, values)], []
    if labels[one.id] in indices:
        large.append(method_charts.thresholds(indices))
        small = list(method_charts.degradation(indices))
    key_to_lines = legend(list(indices), method_charts.styles_for(list(indices)))
    return {
        "large": [chart for chart in large if chart is not None],
        "small": small,
        "legend": key_to_lines,
    }


def unique_labels(found: Sequence[Submission]) -> dict[str, str]:
    """The label of each submission; equal ones get a part of the id."""
    labels = [label_of(one) for one in found]
    return {
        one.id: label if labels.count(label) == 1 else f"{label} ({one.id[:6]})"
        for one, label in zip(found, labels, strict=True)
    }


def _versions(session: Session, user: User | None, one: Submission) -> list[dict[str, Any]]:
    """Other entries of the same method by the same team that this visitor may see."""
    found = session.scalars(
        select(Submission)
        .where(Submission.benchmark_id == one.benchmark_id, Submission.team_id == one.team_id)
        .where(Submission.method == one.method, Submission.id != one.id)
        .where(Submission.state == "scored", Submission.dry_run.is_(False))
        .order_by(Submission.created_at.desc())
    )
    return [
        {"id": each.id, "label": label_of(each), "submitted": views.day(each.created_at)}
        for each in found
        if views.is_public(each) or views.is_own(each, user)
    ]


def _score_table(row: Benchmark, one: Submission) -> dict[str, Any]:
    """Score by sample, all of them together first."""
    values = {(score.sample, score.score): score.value for score in one.scores}
    samples = [name for name in row.samples if any(sample == name for sample, _ in values)]
    rows = [
        {
            "id": column["id"],
            "unit": column["unit"],
            "better": column["better"],
            "values": [values.get((name, column["id"])) for name in ("", *samples)],
        }
        for column in row.columns
    ]
    known = [each for each in rows if any(value is not None for value in each["values"])]
    return {"samples": samples, "rows": known[:_FIRST_SCORES], "more": known[_FIRST_SCORES:]}


def _median_time(exhibit: Exhibit | None) -> float | None:
    times = [] if exhibit is None else list(exhibit.index["times"].values())
    return statistics.median(times) if times else None


def citation(one: Submission, row: Benchmark, origin: str) -> list[str]:
    """The lines of an entry for a bibliography; every field is escaped."""
    date = views.day(one.created_at)
    name = "".join(c for c in f"{one.method}-{row.id}" if c.isalnum() or c == "-")
    fields = {
        "title": f"{{{sanitize.latex(f'{label_of(one)} on {row.title}')}}}",
        "author": f"{{{sanitize.latex(one.team.name)}}}",
        "howpublished": rf"\url{{{origin}/benchmarks/{row.id}/methods/{one.id}}}",
        "year": date[:4],
        "note": sanitize.latex(f"Submitted on {date}, protocol {row.protocol_hash[:12]}"),
    }
    lines = [f"  {field} = {{{value}}}," for field, value in fields.items()]
    return [f"@misc{{{name or 'entry'},", *lines, "}"]


def _drawn(
    exhibit: Exhibit, scenes: Exhibit | None, row: Benchmark, label: str, sample: str
) -> dict[str, Any]:
    """All samples small, one of them in full."""
    samples = exhibit.index["samples"]
    names = [each["id"] for each in samples]
    chosen = sample if sample in names else next(iter(names), "")
    return {
        "gallery": [_card(exhibit, each, label) for each in samples],
        "keys": _keys(samples),
        "about": exhibit.index["about"],
        "left_out": exhibit.index["left_out"],
        "chosen": _in_full(exhibit, scenes, chosen, label) if chosen else None,
        "downloads": [
            {"id": each["id"], "url": f"{exhibit.base}{each['maps']}"}
            for each in samples
            if each["maps"]
        ],
    }


def _keys(samples: Sequence[Mapping[str, Any]]) -> list[tuple[str, Any]]:
    """The colour bar of errors, which all samples share."""
    errors = [by_kind(each["pictures"]).get("error") for each in samples]
    return [("errors", key([each for each in errors if each], "gallery-errors"))]


def _card(exhibit: Exhibit, drawn: Mapping[str, Any], label: str) -> dict[str, Any]:
    return {
        "id": drawn["id"],
        "note": drawn["note"],
        "figures": [
            figure(exhibit, each, of=f"{label}, sample {drawn['id']}") for each in drawn["pictures"]
        ],
    }


def _in_full(exhibit: Exhibit, scenes: Exhibit | None, name: str, label: str) -> dict[str, Any]:
    drawn = exhibit.sample(name)
    assert drawn is not None
    known = None if scenes is None else scenes.sample(name)
    of = f"{label}, sample {name}"
    own = [figure(exhibit, each, of=of) for each in drawn["pictures"]]
    first: list[Figure] = []
    truth = None
    if scenes is not None and known is not None:
        first = [figure(scenes, each, of=f"sample {name}") for each in known["inputs"][:1]]
        truth = known.get("truth")
        if truth is not None:
            first.append(figure(scenes, truth, of=f"sample {name}"))
    pictures = by_kind(drawn["pictures"])
    values = [each for each in (truth, pictures.get("estimate")) if each is not None]
    errors = [pictures["error"]] if "error" in pictures else []
    return {
        "id": name,
        "note": drawn["note"],
        "figures": [*first, *own],
        "keys": [
            ("truth and estimate", key(values, "key-values")),
            ("errors", key(errors, "key-errors")),
        ],
        "layers": layer_views(exhibit, drawn["layers"], of),
        "clip": clip_views([("", exhibit, drawn)], name),
        "rows": [
            {
                "title": row["title"],
                "about": row["about"],
                "key": key(row["pictures"], f"key-row-{place}"),
                "figures": [
                    figure(exhibit, each, of=f"{row['title']}, {of}") for each in row["pictures"]
                ],
            }
            for place, row in enumerate(drawn["rows"])
        ],
        "cloud": f"{exhibit.base}{drawn['cloud']}" if drawn["cloud"] else "",
        "estimate": next((one for one in own if one.alt.startswith("estimate")), None),
        "pair": _pair(scenes, known, exhibit, drawn, of),
    }


def _pair(
    scenes: Exhibit | None,
    known: Mapping[str, Any] | None,
    exhibit: Exhibit,
    drawn: Mapping[str, Any],
    of: str,
) -> list[Figure]:
    """The given view and a generated one, where the estimate is a view."""
    estimate = by_kind(drawn["pictures"]).get("estimate")
    if scenes is None or known is None or estimate is None or estimate["bar"] is None:
        return []
    left = next((each for each in known["inputs"] if each["name"] == "left_image"), None)
    if left is None or estimate["bar"]["colours"] != "rgb":
        return []
    return [figure(scenes, left, of=of), figure(exhibit, estimate, of=of)]
