"""The pages of benchmarks with their leaderboards, and leaderboards as files."""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import replace
from typing import Annotated, Any
from urllib.parse import quote, urlencode

from fastapi import APIRouter, Depends, FastAPI, Request
from fastapi.responses import JSONResponse, Response
from markupsafe import Markup
from sqlalchemy import func, select
from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import Session

from depthgauge.errors import Refused
from depthgauge.report.sections.protocol import how_html
from depthgauge.report.tables.board_view import CellLink, RowExtras, board_html
from depthgauge.report.words.protocol import describe_protocol
from depthgauge.serve.leaderboards import citing, exports
from depthgauge.serve.leaderboards.choice import Choice, View, make_view
from depthgauge.serve.leaderboards.released import ReleasedEntry
from depthgauge.serve.leaderboards.states import State, find_state, protocol_of
from depthgauge.serve.reports import reports_of
from depthgauge.serve.storage.database import reading
from depthgauge.serve.storage.models import Benchmark, Snapshot, User
from depthgauge.serve.web import views
from depthgauge.serve.web.answers import Reader, caches_of, public_answer
from depthgauge.serve.web.rendering import page, show_released
from depthgauge.serve.web.security import web_of

boards = APIRouter(include_in_schema=False)

_LOOK_S = 1.0


async def choice_of(metric: str = "", region: str = "", scene: str = "", by: str = "") -> Choice:
    """What the address says about the table."""
    return Choice(metric, region, scene, by)


Chosen = Annotated[Choice, Depends(choice_of)]


@boards.get("/benchmarks/{benchmark_id}")
def benchmark(
    request: Request, benchmark_id: str, user: Reader, choice: Chosen, on: str = ""
) -> Response:
    """A benchmark, its leaderboard as it stands or stood on a day, and how to submit."""
    return _benchmark_page(request, benchmark_id, user, choice, on=on)


@boards.get("/benchmarks/{benchmark_id}/at/{number}")
def benchmark_at(
    request: Request, benchmark_id: str, number: int, user: Reader, choice: Chosen
) -> Response:
    """A leaderboard of a former day."""
    return _benchmark_page(request, benchmark_id, user, choice, number=number)


@boards.get("/benchmarks/{benchmark_id}/leaderboard.{ending}")
def leaderboard_file(
    request: Request,
    benchmark_id: str,
    ending: str,
    choice: Chosen,
    on: str = "",
    state: int | None = None,
) -> Response:
    """A leaderboard as a file: csv, tex, md, json, bib, or metadata for a DOI (datacite.json)."""

    def make() -> Response:
        settings = web_of(request).settings
        origin, organisation = settings.origin, settings.organisation
        with reading(web_of(request).database) as session:
            views.find_benchmark_row(session, benchmark_id)
            found = _state(request, session, benchmark_id, on, state)
        if ending == "bib":
            text = citing.bibtex(found, origin, organisation)
            return Response(text, media_type="application/x-bibtex")
        if ending == "datacite.json":
            return JSONResponse(citing.datacite(found, origin, organisation))
        if not found.entries:
            raise Refused("not-found", "No entry has been published yet")
        view = make_view(found, choice)
        if ending == "json":
            return JSONResponse(exports.leaderboard_data(found, view, origin))
        if ending not in exports.FORMATS:
            raise Refused("not-found", "There is no such file; see the page of the benchmark")
        media_type, write = exports.FORMATS[ending]
        name = f'attachment; filename="{benchmark_id}-{found.number}.{ending}"'
        text = write(exports.export_table(found, view, origin))
        return Response(text, media_type=media_type, headers={"Content-Disposition": name})

    key = ("file", benchmark_id, ending, choice, on, state)
    return public_answer(request, None, key, make)


def keep_warm(app: FastAPI) -> None:
    """Computes the leaderboards as they stand, now and whenever workers or commands change one."""
    known = None
    while True:
        with suppress(DBAPIError):  # a database that is away comes back
            with reading(app.state.web.database) as session:
                newest = session.scalar(select(func.max(Snapshot.id)))
            if newest != known:
                warm_up(app)
                known = newest
        time.sleep(_LOOK_S)


def warm_up(app: FastAPI) -> None:
    """Computes the leaderboards as they stand, so that the first readers need not wait."""
    with reading(app.state.web.database) as session:
        names = list(session.scalars(select(Benchmark.id)))
    for name in names:
        # A benchmark that this version does not know is said where it is asked for.
        with suppress(Refused), reading(app.state.web.database) as session:
            find_state(session, name, cache=app.state.caches.states)


def _benchmark_page(
    request: Request,
    benchmark_id: str,
    user: User | None,
    choice: Choice,
    *,
    on: str = "",
    number: int | None = None,
) -> Response:
    def make() -> Response:
        web = web_of(request)
        with reading(web.database) as session:
            row = views.find_benchmark_row(session, benchmark_id)
            shown = views.benchmark_view(session, row, rows=False)
            state = _state(request, session, benchmark_id, on, number)
            protocol = protocol_of(row)
            entries = {e.submission: e.label for e in state.entries if e.submission}
            reports = [(one, entries[one]) for one in sorted(reports_of(session, entries))]
        values = _board_values(state, choice, on, number) if state.entries else {}
        return page(
            request,
            "benchmark",
            user,
            benchmark=shown,
            state=state,
            former=bool(on or number is not None),
            how=how_html("", describe_protocol(protocol)),
            tiers=list(protocol.tiers),
            reports=sorted(reports, key=lambda each: each[1]),
            public_url=web.settings.origin,
            citation=citing.sentence(state, web.settings.origin, web.settings.organisation),
            bibtex=Markup.escape(
                citing.bibtex(state, web.settings.origin, web.settings.organisation)
            ),
            address=citing.permanent_address(state, web.settings.origin),
            **{"view": None, "table": "", **values},
        )

    return public_answer(request, user, ("benchmark", benchmark_id, choice, on, number), make)


def _state(
    request: Request, session: Session, benchmark_id: str, on: str, number: int | None
) -> State:
    cache = caches_of(request).states
    return find_state(session, benchmark_id, number=number, on=on, cache=cache)


def _board_values(state: State, choice: Choice, on: str, number: int | None) -> dict[str, Any]:
    """What the template needs of a leaderboard; drawn once for each state and choice."""

    def draw() -> dict[str, Any]:
        view = make_view(state, choice)
        return {
            "view": view,
            "options": _options(state, view),
            "table": board_table(state, view),
            "profiles": _profiles(view),
        }

    when = {"on": on} if on else {"state": str(number)} if number is not None else {}
    said = {name: value for name, value in choice.fields.items() if value}
    query = urlencode({**said, **when}, safe=":@,/")
    place = f"/benchmarks/{quote(state.benchmark)}"
    action = place if number is None else f"{place}/at/{number}"
    return {
        **state.drawn.get(choice, draw),
        "files": f"{place}/leaderboard.",
        "query": f"?{query}" if query else "",
        "when": when,
        "action": action,
        "on": on,
    }


def board_table(state: State, view: View) -> Markup:
    """The table of a view, with links to the methods."""
    board = view.board
    by_scene = bool(view.samples) and any(c.id not in view.samples for c in board.columns)
    best = view.samples.get(board.main, board.main) if by_scene else board.main
    extras = {entry.label: _extras(state, view, entry) for entry in state.entries}
    return board_html(
        board,
        f"Leaderboard of {view.title}",
        grouped=not by_scene,
        order=f", best {best} first",
        texts=("team",),
        extras=extras,
        show=show_released,
    )


def _extras(state: State, view: View, entry: ReleasedEntry) -> RowExtras:
    if not entry.submission:
        return RowExtras(texts=(entry.team,))
    place = f"/benchmarks/{quote(state.benchmark)}/methods/{entry.submission}"
    cells = {
        column: CellLink(
            f"{place}?sample={quote(sample)}",
            ""
            if state.hidden
            else f"/submissions/{entry.submission}/picture?sample={quote(sample)}",
            f"{entry.label} on {sample}",
        )
        for column, sample in view.samples.items()
    }
    return RowExtras(
        href=place,
        badges=("baseline",) if entry.baseline else (),
        baseline=entry.baseline,
        tags=entry.team,
        texts=(entry.team,),
        cells=cells,
    )


def _options(state: State, view: View) -> dict[str, list[str]]:
    """What the form offers."""
    columns = state.board.columns
    metrics = dict.fromkeys(column.metric for column in columns)
    regions = dict.fromkeys(column.region for column in columns if column.region)
    ranked = [column.id for column in view.board.columns if column.id not in view.samples]
    return {
        "metric": list(metrics),
        "region": list(regions) if len(regions) > 1 else [],
        "scene": list(state.samples) if state.has_samples else [],
        "by": ranked if len(ranked) > 1 else [],
    }


def _profiles(view: View) -> list[dict[str, Any]]:
    if view.samples:
        return []
    base = replace(view.choice, by="").query
    joined = f"{base}&" if base else "?"
    return [
        {**each, "href": f"{joined}{urlencode(each['weights'], safe=':@,*')}"}
        for each in exports.profile_links(view)
    ]
