"""How a state of a leaderboard is cited: BibTeX, a sentence, and metadata for a DOI."""

from __future__ import annotations

import datetime
from typing import Any

from depthgauge.report import sanitize
from depthgauge.serve.leaderboards.states import State


def permanent_address(state: State, origin: str) -> str:
    """Where the table stays as it is."""
    place = f"{origin}/benchmarks/{state.benchmark}"
    return place if state.number is None else f"{place}/at/{state.number}"


def sentence(state: State, origin: str, organisation: str = "") -> str:
    """A citation in words; who runs the site comes first, if it is known."""
    said = f"{organisation}: leaderboard" if organisation else "Leaderboard"
    said += f" of {state.title}"
    if state.taken_at is None:
        return f"{said}. {permanent_address(state, origin)}"
    return (
        f"{said}, as it stood from {_date(state)} (UTC) on, state {state.number}. "
        f"{permanent_address(state, origin)}. SHA-256 {state.sha256[:12]}, protocol "
        f"{state.protocol_hash[:12]}."
    )


def bibtex(state: State, origin: str, organisation: str = "") -> str:
    """An entry for a bibliography, of type `misc`; every field is escaped."""
    date = _date(state)
    key = "".join(c for c in f"{state.benchmark}-{date}" if c.isalnum() or c == "-")
    author = {"author": f"{{{sanitize.latex(organisation)}}}"} if organisation else {}
    fields = {
        **author,
        "title": f"{{{sanitize.latex(f'Leaderboard of {state.title}')}}}",
        "howpublished": rf"\url{{{permanent_address(state, origin)}}}",
        "year": date[:4],
        "month": str(int(date[5:7])),
        "note": sanitize.latex(
            f"State {state.number} of {date}, SHA-256 {state.sha256}, "
            f"protocol {state.protocol_hash}"
        ),
    }
    lines = [f"  {name} = {{{value}}}," for name, value in fields.items()]
    return "\n".join([f"@misc{{{key},", *lines, "}"]) + "\n"


def datacite(state: State, origin: str, organisation: str = "") -> dict[str, Any]:
    """Metadata with which a DOI for the state can be registered (DataCite 4).

    The organisation that runs the site is creator and publisher; the host's name, if none is named.
    """
    address, date = permanent_address(state, origin), _date(state)
    teams = dict.fromkeys(entry.team for entry in state.entries if entry.team)
    creator = organisation or origin.partition("//")[2]
    return {
        "schemaVersion": "http://datacite.org/schema/kernel-4",
        "types": {"resourceTypeGeneral": "Dataset", "resourceType": "Leaderboard"},
        "titles": [{"title": f"Leaderboard of {state.title}"}],
        "creators": [{"name": creator, "nameType": "Organizational"}],
        "contributors": [
            {"name": team, "nameType": "Organizational", "contributorType": "DataCollector"}
            for team in teams
        ],
        "publisher": creator,
        "publicationYear": int(date[:4]),
        "dates": [{"date": date, "dateType": "Issued"}],
        "version": str(state.number),
        "url": address,
        "alternateIdentifiers": [
            {"alternateIdentifier": state.sha256, "alternateIdentifierType": "SHA-256"},
            {"alternateIdentifier": state.protocol_hash, "alternateIdentifierType": "protocol"},
        ],
        "descriptions": [
            {"description": sentence(state, origin, organisation), "descriptionType": "Abstract"},
        ],
        "formats": ["text/html", "text/csv", "application/json"],
    }


def _date(state: State) -> str:
    moment = datetime.datetime.fromtimestamp(state.taken_at or 0, datetime.UTC)
    return moment.strftime("%Y-%m-%d")
