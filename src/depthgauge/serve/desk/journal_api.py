"""How pages send events to a journal and read it: the same for every page."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fastapi import Response
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ConfigDict, Field

from depthgauge.serve.desk.journal import Event, Journal

Extra = Callable[[list[Event]], dict[str, Any]]
"""What an answer says besides, from all events of the journal."""


class FromTab(BaseModel):
    """A message of an open page."""

    model_config = ConfigDict(extra="forbid", strict=True)

    tab: str = Field(min_length=1, max_length=64)


class SentEvents(FromTab):
    """Events from a page."""

    events: list[dict[str, Any]] = Field(max_length=1000)


def story(journal: Journal, tab: str, since: int, extra: Extra | None = None) -> Response:
    """The events after the first `since`, and how many other tabs are open."""
    events = journal.events()
    body = {
        "ok": True,
        "revision": len(events),
        "others": journal.seen(tab[:64]),
        "events": events[max(0, since) :],
        **(extra(events) if extra else {}),
    }
    return JSONResponse(body)


def stored(journal: Journal, sent: SentEvents, extra: Extra | None = None) -> Response:
    """Stores events; the answer says which can never be stored, or why none can be now."""
    journal.seen(sent.tab)
    found = journal.store(sent.events)
    body: dict[str, Any] = {
        "ok": not found.full,
        "revision": found.revision,
        "refused": dict(found.refused),
    }
    if found.full:
        body["error"] = f"It could not be saved: {found.full}"
    elif extra:
        body |= extra(journal.events())
    return JSONResponse(body, 507 if found.full else 200)
