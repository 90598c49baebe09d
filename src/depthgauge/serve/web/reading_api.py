"""The part of the JSON API that everybody may read: benchmarks, leaderboards, data, new entries."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import JSONResponse, Response
from pydantic import BaseModel
from sqlalchemy import select

from depthgauge.errors import Refused
from depthgauge.serve.leaderboards import news
from depthgauge.serve.leaderboards.choice import Choice, make_view
from depthgauge.serve.leaderboards.exports import leaderboard_data
from depthgauge.serve.leaderboards.states import find_state
from depthgauge.serve.storage.database import reading
from depthgauge.serve.storage.models import Snapshot
from depthgauge.serve.web import views
from depthgauge.serve.web.answers import caches_of, public_answer
from depthgauge.serve.web.api import RESPONSES
from depthgauge.serve.web.boards import choice_of
from depthgauge.serve.web.security import web_of
from depthgauge.serve.web.site_pages import benchmark_cards, data_view

_MOST = 1 << 62
reading_api = APIRouter(prefix="/api", responses={s: RESPONSES[s] for s in (404, 422)})

Chosen = Annotated[Choice, Depends(choice_of)]
Number = Annotated[int | None, Query(ge=1, le=_MOST)]


class ScoreColumn(BaseModel):
    """A score that is released."""

    id: str
    unit: str
    better: str
    """`lower`, `higher` or `zero`."""


class PhaseInfo(BaseModel):
    """When submissions are taken."""

    name: str
    opens: str
    closes: str | None
    state: str


class BenchmarkInfo(BaseModel):
    """A benchmark."""

    id: str
    title: str
    about: str
    protocol_hash: str
    hidden: bool
    quantity: str
    samples: list[str]
    columns: list[ScoreColumn]
    """The first one ranks."""
    step: float | None
    """Scores of hidden truth are rounded by at least this share; null: to digits, or not at all."""
    monthly_quota: int
    most_bytes: int
    terms: str
    phases: list[PhaseInfo]


class BenchmarkCard(BenchmarkInfo):
    """A benchmark in the list."""

    entries: int
    """How many are published."""
    picture: str
    """The address of a small picture; empty if there is none."""


class PlainRow(BaseModel):
    """An entry with its scores of all samples together."""

    rank: int
    submission: str
    """Empty for an entry that was withdrawn."""
    method: str
    version: str
    team: str
    baseline: bool
    tier: str
    values: dict[str, float | None]
    sheet: str
    """SHA-256 of all released values."""


class BenchmarkWithRows(BenchmarkInfo):
    """A benchmark with its leaderboard."""

    rows: list[PlainRow]


class BoardColumn(ScoreColumn):
    """A column of a view."""

    sample: str
    """What it is about; empty: all samples together."""


class BoardCell(BaseModel):
    """A value with its interval, its rank and its tie group, where there are any."""

    value: float | None
    low: float | None
    high: float | None
    rank: int | None
    tie_group: int | None


class BoardRow(BaseModel):
    """An entry in a view."""

    submission: str
    method: str
    version: str
    team: str
    baseline: bool
    tier: str
    label: str
    """Its name in this table."""
    rank: int | None
    scores: dict[str, BoardCell]


class LeaderboardBody(BaseModel):
    """A view of a leaderboard."""

    benchmark: str
    title: str
    protocol_hash: str
    state: int | None
    """Its number; null before the first entry."""
    taken_at: int | None
    """Seconds since 1970."""
    sha256: str
    url: str
    """Where this state stays."""
    view: dict[str, str]
    ranked_by: str
    level: float
    """Of the intervals."""
    tiers: list[str]
    columns: list[BoardColumn]
    rows: list[BoardRow]
    notes: list[str]


class StateInfo(BaseModel):
    """A state of a leaderboard."""

    number: int
    taken_at: int
    sha256: str
    entries: int


class SampleInfo(BaseModel):
    """A sample, as participants have it."""

    id: str
    scene: str
    inputs: list[str]
    size_px: list[int] | None
    range: list[float] | None
    picture: str


class DataInfo(BaseModel):
    """The data of a benchmark."""

    title: str
    licence: str
    cite: str
    homepage: str
    layout: str
    download: str
    files: int
    bytes: int
    croissant: str
    samples: list[SampleInfo]


class NewEntry(BaseModel):
    """A published entry."""

    submission: str
    method: str
    version: str
    team: str
    benchmark: str
    benchmark_title: str
    baseline: bool
    published_at: int


@reading_api.get("/benchmarks", response_model=list[BenchmarkCard])
def list_benchmarks(request: Request) -> Response:
    """All benchmarks of this site, without their leaderboards."""

    def make() -> Any:
        with reading(web_of(request).database) as session:
            return benchmark_cards(session)

    return _answer(request, "benchmarks", make)


@reading_api.get("/benchmarks/{benchmark_id}", response_model=BenchmarkWithRows)
def get_benchmark(request: Request, benchmark_id: str) -> Response:
    """A benchmark with its leaderboard: scores of all samples together."""

    def make() -> Any:
        with reading(web_of(request).database) as session:
            return views.benchmark_view(session, views.find_benchmark_row(session, benchmark_id))

    return _answer(request, ("benchmark", benchmark_id), make)


@reading_api.get("/benchmarks/{benchmark_id}/leaderboard", response_model=LeaderboardBody)
def get_leaderboard(
    request: Request, benchmark_id: str, choice: Chosen, on: str = "", state: Number = None
) -> Response:
    """A view of a leaderboard with intervals and tie groups, as it stands or stood on a day."""

    def make() -> Any:
        web = web_of(request)
        with reading(web.database) as session:
            views.find_benchmark_row(session, benchmark_id)
            cache = caches_of(request).states
            found = find_state(session, benchmark_id, number=state, on=on, cache=cache)
        if not found.entries:
            raise Refused("not-found", "No entry has been published yet")
        return leaderboard_data(found, make_view(found, choice), web.settings.origin)

    return _answer(request, ("leaderboard", benchmark_id, choice, on, state), make)


@reading_api.get("/benchmarks/{benchmark_id}/states", response_model=list[StateInfo])
def list_states(request: Request, benchmark_id: str) -> Response:
    """All states of a leaderboard, the first one first."""

    def make() -> Any:
        with reading(web_of(request).database) as session:
            views.find_benchmark_row(session, benchmark_id)
            wanted = select(Snapshot).where(Snapshot.benchmark_id == benchmark_id)
            return [
                {
                    "number": one.id,
                    "taken_at": one.taken_at,
                    "sha256": one.sha256,
                    "entries": len(one.body["rows"]),
                }
                for one in session.scalars(wanted.order_by(Snapshot.id))
            ]

    return _answer(request, ("states", benchmark_id), make)


@reading_api.get("/benchmarks/{benchmark_id}/data", response_model=DataInfo)
def get_data(request: Request, benchmark_id: str) -> Response:
    """What is public about the data of a benchmark."""

    def make() -> Any:
        with reading(web_of(request).database) as session:
            return data_view(session, views.find_benchmark_row(session, benchmark_id))

    return _answer(request, ("data", benchmark_id), make)


@reading_api.get("/entries", response_model=list[NewEntry])
def list_entries(request: Request) -> Response:
    """The newest published entries of all benchmarks."""

    def make() -> Any:
        with reading(web_of(request).database) as session:
            return news.newest_entries(session)

    return _answer(request, "entries", make)


def _answer(request: Request, key: Any, make: Any) -> Response:
    return public_answer(request, None, ("api", key), lambda: JSONResponse(make()))
