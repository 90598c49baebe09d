"""A sample of a benchmark: what methods are given, the truth where it is public, and points."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import HTMLResponse, Response
from sqlalchemy import select
from sqlalchemy.orm import Session, selectinload

from depthgauge.errors import Refused
from depthgauge.serve.storage.database import reading
from depthgauge.serve.storage.models import Benchmark, ReleasedScore, Submission, User
from depthgauge.serve.web import views
from depthgauge.serve.web.figures import Figure, by_kind, figure, key
from depthgauge.serve.web.kept import Exhibit, exhibit_of_benchmark, exhibit_of_submission
from depthgauge.serve.web.rendering import page
from depthgauge.serve.web.security import visitor, web_of

sample_pages = APIRouter(include_in_schema=False)
Visitor = Annotated[User | None, Depends(visitor)]
MOST_METHODS = 6
"""That are shown side by side."""


@sample_pages.get("/benchmarks/{benchmark_id}/samples/{sample:path}")
def sample_page(request: Request, benchmark_id: str, sample: str, user: Visitor) -> HTMLResponse:
    """The inputs of a sample, its truth where it is public, and how methods do on it."""
    web = web_of(request)
    with reading(web.database) as session:
        row = views.find_benchmark_row(session, benchmark_id)
        require_sample(row, sample)
        exhibit = exhibit_of_benchmark(web.site, session, benchmark_id)
        shown = None if exhibit is None else exhibit.sample(sample)
        results = _results(session, row, sample)
        place = row.samples.index(sample)
    return page(
        request,
        "sample",
        user,
        benchmark=row,
        sample=sample,
        before=row.samples[place - 1] if place else "",
        after=row.samples[place + 1] if place + 1 < len(row.samples) else "",
        shown=None if exhibit is None or shown is None else scene_view(exhibit, shown),
        results=results,
    )


def require_sample(benchmark: Benchmark, sample: str) -> None:
    """Requires that a benchmark has a sample.

    Raises:
        Refused: It has not.
    """
    if sample not in benchmark.samples:
        raise Refused("not-found", "The benchmark has no such sample")


def scene_view(exhibit: Exhibit, shown: Mapping[str, Any]) -> dict[str, Any]:
    """A sample of a benchmark as a template shows it."""
    name = shown["id"]
    inputs = {
        each["name"]: figure(exhibit, each, of=f"sample {name}", tiles=each["tiles"])
        for each in shown["inputs"]
    }
    pair = [inputs[one] for one in shown["pair"] or () if one in inputs]
    truth = shown.get("truth")
    return {
        "inputs": list(inputs.values()),
        "pair": pair if len(pair) == 2 else [],
        "views": shown["views"],
        "base": exhibit.base,
        "truth": None
        if truth is None
        else figure(exhibit, truth, of=f"sample {name}", tiles=shown["truth_tiles"]),
        "key": key([truth] if truth else [], "truth-key"),
        "cloud": f"{exhibit.base}{shown['cloud']}" if shown.get("cloud") else "",
        "layers": layer_views(exhibit, shown.get("layers", ()), f"sample {name}"),
        "clip": clip_views([("", exhibit, shown)], name),
    }


def clip_views(
    sources: Sequence[tuple[str, Exhibit, Mapping[str, Any]]], sample: str, *, only: str = ""
) -> list[dict[str, Any]]:
    """The frames of a clip, each with the pictures of all sources that have it.

    Args:
        sources: Their captions (empty: as the pictures say), exhibits, and what these say about
            the sample.
        sample: Its id.
        only: Of the first source, take only this kind of pictures; empty: all.
    """
    frames: dict[int, list[Figure]] = {}
    for number, (caption, exhibit, shown) in enumerate(sources):
        for each in shown.get("clip") or ():
            of = f"{caption}, sample {sample}, frame {each['frame']}".removeprefix(", ")
            frames.setdefault(each["frame"], []).extend(
                figure(exhibit, record, of=of, caption=caption)
                for record in each["pictures"]
                if number or only in ("", record["kind"])
            )
    return [
        {"name": str(number), "about": "", "figures": found}
        for number, found in sorted(frames.items())
    ]


def layer_views(exhibit: Exhibit, layers: Any, of: str) -> list[dict[str, Any]]:
    """Layers, each with its pictures."""
    return [
        {
            "name": layer["name"],
            "about": layer["about"],
            "figures": [
                figure(exhibit, each, of=f"{of}, layer {layer['name']}")
                for each in layer["pictures"]
            ],
        }
        for layer in layers
    ]


def _results(session: Session, benchmark: Benchmark, sample: str) -> list[dict[str, Any]]:
    """The published entries by their main score on this sample; empty where it is not released."""
    if not benchmark.columns:
        return []
    column = benchmark.columns[0]
    found = session.execute(
        select(Submission, ReleasedScore.value)
        .join(ReleasedScore, ReleasedScore.submission_id == Submission.id)
        .where(ReleasedScore.sample == sample, ReleasedScore.score == column["id"])
        .where(Submission.benchmark_id == benchmark.id, Submission.state == "scored")
        .where(Submission.visibility.in_(("public", "baseline")))
        .options(selectinload(Submission.team))
    )
    rows = [
        {"id": one.id, "method": one.method, "version": one.version, "value": value}
        for one, value in found
    ]
    sign = {"higher": -1.0}.get(column["better"], 1.0)

    def order(row: dict[str, Any]) -> tuple[bool, float, str]:
        value = row["value"]
        worst = abs(value) if value is not None and column["better"] == "zero" else value
        return value is None, sign * (worst or 0.0), row["method"]

    return sorted(rows, key=order)


@sample_pages.get("/benchmarks/{benchmark_id}/points")
def points_page(
    request: Request,
    benchmark_id: str,
    user: Visitor,
    sample: str = "",
    method: Annotated[list[str] | None, Query(max_length=MOST_METHODS)] = None,
) -> HTMLResponse:
    """Points of the truth and of some methods, one below the other."""
    web = web_of(request)
    with reading(web.database) as session:
        row = views.find_benchmark_row(session, benchmark_id)
        sample = sample or row.samples[0]
        require_sample(row, sample)
        clouds = []
        scenes = exhibit_of_benchmark(web.site, session, benchmark_id)
        known = None if scenes is None else scenes.sample(sample)
        if scenes is not None and known is not None and known.get("cloud") and known.get("truth"):
            shown = figure(scenes, known["truth"], of=f"sample {sample}")
            clouds.append({"title": "truth", "src": f"{scenes.base}{known['cloud']}", "one": shown})
        for one in method or ():
            clouds += _method_points(session, web.site, user, benchmark_id, one, sample)
    return page(
        request,
        "points",
        user,
        benchmark=row,
        sample=sample,
        clouds=clouds,
        methods=list(method or ()),
    )


def _method_points(
    session: Session, site: Any, user: User | None, benchmark_id: str, one: str, sample: str
) -> list[dict[str, Any]]:
    found = visible(session, user, benchmark_id, one)
    exhibit = exhibit_of_submission(site, session, one)
    drawn = None if exhibit is None else exhibit.sample(sample)
    if exhibit is None or drawn is None or not drawn["cloud"]:
        return []
    pictures = by_kind(drawn["pictures"])
    shown = figure(exhibit, pictures["estimate"], of=f"{found.method}, sample {sample}")
    title = f"{found.method} {found.version}".strip()
    return [{"title": title, "src": f"{exhibit.base}{drawn['cloud']}", "one": shown}]


def visible(session: Session, user: User | None, benchmark_id: str, one: str) -> Submission:
    """A scored submission to a benchmark that this visitor may see.

    Raises:
        Refused: There is none.
    """
    found = views.find_submission(session, user, one)
    if found.benchmark_id != benchmark_id or found.dry_run or found.state != "scored":
        raise Refused("not-found", "There is no such submission")
    return found


@sample_pages.get("/submissions/{submission_id}/picture")
def picture(request: Request, submission_id: str, user: Visitor, sample: str = "") -> Response:
    """The error picture of a sample, under an address that does not change."""
    web = web_of(request)
    with reading(web.database) as session:
        views.find_submission(session, user, submission_id)
        exhibit = exhibit_of_submission(web.site, session, submission_id)
    drawn = None if exhibit is None else exhibit.sample(sample)
    files = {} if drawn is None else by_kind(drawn["pictures"])
    shown = files.get("error") or files.get("lines") or files.get("estimate")
    if exhibit is None or shown is None:
        raise Refused("not-found", "There is no picture of it")
    kind = "image/webp" if shown["file"].endswith(".webp") else "image/png"
    headers = {"Cache-Control": "private, max-age=300"}
    return Response(exhibit.read(shown["file"]), media_type=kind, headers=headers)
