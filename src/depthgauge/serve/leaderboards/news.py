"""What happened on a site, as far as everybody may know: new entries, new benchmarks."""

from __future__ import annotations

import datetime
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

from sqlalchemy import func, select
from sqlalchemy.orm import Session, selectinload

from depthgauge.report.sanitize import clean
from depthgauge.serve.storage.models import AuditEntry, Benchmark, Submission

MOST_ENTRIES = 50
_PUBLISHED = ("submission made public", "submission made baseline")
_ATOM = "http://www.w3.org/2005/Atom"
_BEGINNING = "1970-01-01T00:00:00Z"


def newest_entries(session: Session, most: int = MOST_ENTRIES) -> list[dict[str, Any]]:
    """The entries that are published now, those that came last first."""
    when = (
        select(AuditEntry.subject, func.max(AuditEntry.at).label("at"))
        .where(AuditEntry.action.in_(_PUBLISHED))
        .group_by(AuditEntry.subject)
        .subquery()
    )
    found = session.execute(
        select(Submission, when.c.at)
        .join(when, when.c.subject == Submission.id)
        .where(Submission.state == "scored", Submission.visibility.in_(("public", "baseline")))
        .order_by(when.c.at.desc(), Submission.method, Submission.version, Submission.id)
        .options(selectinload(Submission.team), selectinload(Submission.benchmark))
        .limit(most)
    )
    return [
        {
            "submission": one.id,
            "method": one.method,
            "version": one.version,
            "team": one.team.name,
            "benchmark": one.benchmark_id,
            "benchmark_title": one.benchmark.title,
            "baseline": one.visibility == "baseline",
            "published_at": at,
        }
        for one, at in found
    ]


def events(session: Session, most: int = MOST_ENTRIES) -> list[dict[str, Any]]:
    """New entries and new benchmarks, the newest first: `at`, `kind`, `text`, `href`."""
    added = session.execute(select(Benchmark.id, Benchmark.title, Benchmark.added_at))
    listed: list[dict[str, Any]] = [
        {
            "at": at,
            "kind": "benchmark",
            "text": f"{title} was opened",
            "href": f"/benchmarks/{name}",
        }
        for name, title, at in added
    ]
    listed += [
        {
            "at": entry["published_at"],
            "kind": "baseline" if entry["baseline"] else "entry",
            "text": f"{name_of(entry)} by {entry['team']} on {entry['benchmark_title']}",
            "href": method_address(entry),
        }
        for entry in newest_entries(session, most)
    ]
    listed.sort(key=lambda each: (-each["at"], each["text"]))
    return listed[:most]


def method_address(entry: dict[str, Any]) -> str:
    """The page of an entry."""
    return f"/benchmarks/{quote(entry['benchmark'])}/methods/{entry['submission']}"


def name_of(entry: dict[str, Any]) -> str:
    """A method with its version."""
    return " ".join(filter(None, (entry["method"], entry["version"])))


def atom_feed(entries: Sequence[dict[str, Any]], origin: str) -> bytes:
    """New entries as an Atom feed (RFC 4287)."""
    feed = ET.Element("feed", {"xmlns": _ATOM})
    host = origin.partition("//")[2]
    _add(feed, "title", f"New entries on {host}")
    _add(feed, "id", f"{origin}/feed.atom")
    ET.SubElement(feed, "link", {"rel": "self", "href": f"{origin}/feed.atom"})
    ET.SubElement(feed, "link", {"rel": "alternate", "href": f"{origin}/"})
    latest = max((entry["published_at"] for entry in entries), default=None)
    _add(feed, "updated", _BEGINNING if latest is None else _moment(latest))
    for entry in entries:
        address = f"{origin}{method_address(entry)}"
        item = ET.SubElement(feed, "entry")
        _add(item, "title", f"{name_of(entry)} on {entry['benchmark_title']}")
        _add(item, "id", address)
        ET.SubElement(item, "link", {"rel": "alternate", "href": address})
        _add(item, "updated", _moment(entry["published_at"]))
        _add(ET.SubElement(item, "author"), "name", entry["team"])
        kind = "A baseline" if entry["baseline"] else "An entry"
        _add(item, "summary", f"{kind} of {entry['benchmark_title']}.")
    return bytes(ET.tostring(feed, encoding="utf-8", xml_declaration=True))


def _add(parent: ET.Element, name: str, text: str) -> None:
    ET.SubElement(parent, name).text = clean(text)


def _moment(seconds: int) -> str:
    moment = datetime.datetime.fromtimestamp(seconds, datetime.UTC)
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")
