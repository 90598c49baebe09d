"""Numbers for Prometheus, at `/metrics`: counts only, for this machine or with a token."""

from __future__ import annotations

import hmac
from collections.abc import Iterator, Mapping

from fastapi import APIRouter, Request, Response

from depthgauge.errors import Refused
from depthgauge.serve.storage.database import reading
from depthgauge.serve.web.overview import Overview, overview
from depthgauge.serve.web.security import Traffic, is_local, web_of

_TYPE = "text/plain; version=0.0.4; charset=utf-8"

metrics = APIRouter(include_in_schema=False)


def _has_token(request: Request) -> bool:
    token = web_of(request).settings.metrics_token
    kind, _, given = request.headers.get("authorization", "").partition(" ")
    right = hmac.compare_digest(given.strip().encode(), token.encode())
    return bool(token) and kind.lower() == "bearer" and right


@metrics.get("/metrics")
def show_metrics(request: Request) -> Response:
    """Counts of submissions, accounts, mails, bytes and answers."""
    if not (is_local(request) or _has_token(request)):
        raise Refused("not-found", "There is no such page")
    web = web_of(request)
    with reading(web.database) as session:
        counts = overview(session, web.site)
    text = "\n".join(_lines(counts, web.traffic))
    return Response(text + "\n", media_type=_TYPE)


def _lines(counts: Overview, traffic: Traffic) -> Iterator[str]:
    by_state = {
        f'benchmark="{benchmark}",state="{state}"': n
        for (benchmark, state), n in sorted(counts.submissions.items())
    }
    yield from _metric("submissions", "gauge", "Submissions by benchmark and state.", by_state)
    again = {f'benchmark="{name}"': n for name, n in counts.rescores.items()}
    yield from _metric("rescores", "gauge", "Entries that wait to be scored again.", again)
    mails = {f'state="{name}"': n for name, n in counts.mails.items()}
    yield from _metric("mails", "gauge", "Mails of the last week by state.", mails)
    for name, about, value in (
        ("queue_oldest_seconds", "How long the first in the queue waits.", counts.oldest_wait_s),
        ("accounts", "Accounts.", counts.users),
        ("archives", "Archives of submissions.", counts.archives),
        ("archive_bytes", "Their size.", counts.archive_bytes),
        ("unfinished_uploads", "Uploads that have begun.", counts.uploads),
        ("unfinished_upload_bytes", "What they will have.", counts.upload_bytes),
        ("disk_free_bytes", "Room on the disk of the site.", counts.disk_free),
        ("disk_bytes", "Size of that disk.", counts.disk_total),
    ):
        yield from _metric(name, "gauge", about, {"": value})
    answers = {f'status="{status}"': n for status, n in sorted(traffic.responses.items())}
    yield from _metric("http_responses_total", "counter", "Answers of this process.", answers)
    took = {"": round(traffic.seconds, 6)}
    yield from _metric("http_response_seconds_total", "counter", "Time for them.", took)


def _metric(name: str, kind: str, about: str, values: Mapping[str, float]) -> Iterator[str]:
    yield f"# HELP depthgauge_{name} {about}"
    yield f"# TYPE depthgauge_{name} {kind}"
    for labels, value in values.items():
        yield f"depthgauge_{name}{{{labels}}} {value}" if labels else f"depthgauge_{name} {value}"
