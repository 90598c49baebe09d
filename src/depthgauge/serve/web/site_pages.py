"""The pages about the site: home, data of benchmarks, tools, changes, the feed."""

from __future__ import annotations

from typing import Any
from zlib import crc32

from fastapi import APIRouter, Request
from fastapi.responses import FileResponse, JSONResponse, Response
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from depthgauge import __version__
from depthgauge.errors import Refused
from depthgauge.serve import board
from depthgauge.serve.leaderboards import news
from depthgauge.serve.reports import report_of, report_policy
from depthgauge.serve.storage.database import reading
from depthgauge.serve.storage.models import Benchmark, Submission, Thumbnail
from depthgauge.serve.web import views
from depthgauge.serve.web.answers import FOREVER, Reader, public_answer
from depthgauge.serve.web.rendering import page, style_sheet
from depthgauge.serve.web.security import web_of

site_pages = APIRouter(include_in_schema=False)

_HOME_ENTRIES = 8


@site_pages.get("/static/site.{digest}.css")
def css(request: Request, digest: str) -> Response:
    """The style of all pages; its address changes with it."""
    headers = {**FOREVER, "Vary": "Accept-Encoding"} if digest == style_sheet().digest else {}
    if "gzip" not in request.headers.get("accept-encoding", ""):
        return Response(style_sheet().text, media_type="text/css", headers=headers)
    headers["Content-Encoding"] = "gzip"
    return Response(style_sheet().packed, media_type="text/css", headers=headers)


@site_pages.get("/favicon.ico")
def icon() -> Response:
    """There is none; browsers ask for it."""
    return Response(status_code=204)


@site_pages.get("/")
def home(request: Request, user: Reader) -> Response:
    """What this site measures, its benchmarks, its newest entries, how to take part."""

    def make() -> Response:
        web = web_of(request)
        with reading(web.database) as session:
            listed = benchmark_cards(session)
            newest = news.newest_entries(session, _HOME_ENTRIES)
        origin = web.settings.origin
        return page(request, "home", user, benchmarks=listed, newest=newest, public_url=origin)

    return public_answer(request, user, "home", make)


def benchmark_cards(session: Session) -> list[dict[str, Any]]:
    """All benchmarks with the number of their entries and a picture."""
    shown = select(Submission.benchmark_id, func.count()).where(*board.SHOWN)
    grouped = session.execute(shown.group_by(Submission.benchmark_id))
    counts = {name: count for name, count in grouped}
    found = session.scalars(select(Benchmark).order_by(Benchmark.id))
    return [
        {
            **views.benchmark_view(session, one, rows=False),
            "entries": counts.get(one.id, 0),
            "picture": _card_picture(session, one),
        }
        for one in found
    ]


def _card_picture(session: Session, benchmark: Benchmark) -> str:
    wanted = select(Thumbnail.sha256).where(Thumbnail.benchmark_id == benchmark.id)
    found = list(session.scalars(wanted.order_by(Thumbnail.sample)))
    # Not always the first: benchmarks with the same samples should look different.
    return thumbnail_address(found[crc32(benchmark.id.encode()) % len(found)]) if found else ""


def thumbnail_address(sha256: str) -> str:
    """Where a small picture of inputs is."""
    return f"/thumbnails/{sha256}.webp"


@site_pages.get("/thumbnails/{sha256}.webp")
def thumbnail(request: Request, sha256: str) -> Response:
    """A small picture of inputs, which are public."""
    with reading(web_of(request).database) as session:
        wanted = select(Thumbnail.content).where(Thumbnail.sha256 == sha256).limit(1)
        content = session.scalar(wanted)
    if content is None:
        raise Refused("not-found", "There is no such picture")
    return Response(content, media_type="image/webp", headers=FOREVER)


@site_pages.get("/benchmarks/{benchmark_id}/data")
def data(request: Request, benchmark_id: str, user: Reader) -> Response:
    """The samples of a benchmark: pictures, sizes, ranges, licence, where to get them."""

    def make() -> Response:
        with reading(web_of(request).database) as session:
            row = views.find_benchmark_row(session, benchmark_id)
            shown = views.benchmark_view(session, row, rows=False)
            facts = data_view(session, row)
        return page(request, "data", user, benchmark=shown, data=facts)

    return public_answer(request, user, ("data", benchmark_id), make)


def data_view(session: Session, benchmark: Benchmark) -> dict[str, Any]:
    """What is public about the data of a benchmark."""
    of_this = Thumbnail.benchmark_id == benchmark.id
    listed = session.execute(select(Thumbnail.sample, Thumbnail.sha256).where(of_this))
    pictures = {sample: sha256 for sample, sha256 in listed}
    facts = dict(benchmark.facts)
    croissant = facts.pop("croissant", {})
    known = {each["id"]: each for each in facts.pop("samples", [])}
    nothing: dict[str, Any] = {"scene": "", "inputs": [], "size_px": None, "range": None}
    words = ("title", "licence", "cite", "homepage", "layout", "download")
    return {
        **{name: str(facts.get(name, "")) for name in words},
        "files": int(facts.get("files", 0)),
        "bytes": int(facts.get("bytes", 0)),
        "croissant": f"/benchmarks/{benchmark.id}/croissant.json" if croissant else "",
        "samples": [
            {
                **nothing,
                **known.get(name, {}),
                "id": name,
                "picture": thumbnail_address(pictures[name]) if name in pictures else "",
            }
            for name in benchmark.samples
        ],
    }


@site_pages.get("/benchmarks/{benchmark_id}/croissant.json")
def croissant(request: Request, benchmark_id: str) -> Response:
    """The Croissant metadata that the dataset came with."""
    with reading(web_of(request).database) as session:
        row = views.find_benchmark_row(session, benchmark_id)
        found = row.facts.get("croissant")
    if not found:
        raise Refused("not-found", "This dataset came without Croissant metadata")
    return JSONResponse(found, media_type="application/ld+json")


@site_pages.get("/tools")
def tools(request: Request, user: Reader) -> Response:
    """The programs with which participants check and send estimates."""

    def make() -> Response:
        web = web_of(request)
        with reading(web.database) as session:
            first = session.scalar(select(Benchmark.id).order_by(Benchmark.id).limit(1))
        origin = web.settings.origin
        return page(request, "tools", user, public_url=origin, example=first or "BENCHMARK")

    return public_answer(request, user, "tools", make)


@site_pages.get("/changelog")
def changelog(request: Request, user: Reader) -> Response:
    """What changed on this site."""

    def make() -> Response:
        with reading(web_of(request).database) as session:
            listed = news.events(session, 200)
        return page(request, "changelog", user, events=listed, version=__version__)

    return public_answer(request, user, "changelog", make)


@site_pages.get("/feed.atom")
def feed(request: Request) -> Response:
    """New public entries, for readers of feeds."""

    def make() -> Response:
        web = web_of(request)
        with reading(web.database) as session:
            entries = news.newest_entries(session)
        body = news.atom_feed(entries, web.settings.origin)
        return Response(body, media_type="application/atom+xml")

    return public_answer(request, None, "feed", make)


@site_pages.get("/submissions/{submission_id}/report")
def report(request: Request, submission_id: str, user: Reader) -> Response:
    """The report of a run that is attached to an entry, in a sandbox."""
    web = web_of(request)
    with reading(web.database) as session:
        views.find_submission(session, user, submission_id)
        digest = report_of(session, submission_id)
    if digest is None:
        raise Refused("not-found", "This entry has no report")
    headers = {"Content-Security-Policy": report_policy(), "Cache-Control": "private, no-cache"}
    return FileResponse(web.site.blobs.path(digest), media_type="text/html", headers=headers)
