"""The benchmarks of a site, as workers know them: protocol, inputs, and where the truth is.

The database has what visitors see. What is released is decided here, from a file that the web
process cannot open: whoever takes over the web process cannot have more released.
"""

from __future__ import annotations

import json
import os
import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import delete, select

from depthgauge.benchmarks import Protocol, find_benchmark, make_protocol
from depthgauge.datasets._paths import unsafe
from depthgauge.engine.scoring.data_bins import with_bins_of
from depthgauge.engine.scoring.samples import samples_of
from depthgauge.errors import BadData, Misuse
from depthgauge.io import write_text
from depthgauge.serve.lockout import hidden_folders, require_outside
from depthgauge.serve.site import Site
from depthgauge.serve.storage.database import Database, audit, now
from depthgauge.serve.storage.models import Benchmark, Thumbnail
from depthgauge.serve.submissions.data_facts import data_facts, thumbnails
from depthgauge.serve.submissions.rounding import Rounding, step_of, usual_quota
from depthgauge.types import Sample

MOST_BYTES = 4 << 30
_ABOUT_CHARACTERS = 10_000


@dataclass(frozen=True, slots=True)
class Registered:
    """A benchmark of a site."""

    protocol: Protocol
    data: Path
    """The inputs; where the truth is not hidden, with the truth."""
    hidden: Path | None
    """The data with the hidden truth."""
    rounding: Rounding | None = None
    """Of released scores; None: the benchmark says how many digits, or the truth is public."""

    @property
    def truth(self) -> Path:
        """The folder that scoring reads."""
        return self.hidden or self.data


def add_benchmark(
    site: Site,
    database: Database,
    benchmark: str,
    data: Path,
    *,
    hidden: Path | None = None,
    monthly_quota: int | None = None,
    digits: int | None = None,
    most_bytes: int = MOST_BYTES,
    terms: str = "",
    download: str = "",
    rescore: bool = False,
) -> Registered:
    """Opens a benchmark for submissions, or changes where its data is.

    Args:
        site: The site.
        database: Its database.
        benchmark: Its id, or the path of its TOML file.
        data: What participants have; without truth if the truth is hidden.
        hidden: The same with the truth, in a folder of its own.
        monthly_quota: Submissions of a team in a calendar month; None: as many as the number of
            samples permits (`usual_quota`).
        digits: Significant digits of released scores of hidden truth; None: as the benchmark says,
            or so coarse that a year of scores tells little of a map (`rounding.py`).
        most_bytes: The largest archive.
        terms: What authors must accept to submit.
        download: Where participants find the data, an address.
        rescore: Takes another protocol of the same id, too; all entries are scored again.

    Raises:
        BadData: The folders do not fit together, or there is truth where it would be seen.
        Misuse: Submissions of this benchmark cannot be taken.
    """
    protocol = _with_digits(find_benchmark(benchmark), digits)
    _require_possible(protocol)
    found = Registered(protocol, Path(data).resolve(), Path(hidden).resolve() if hidden else None)
    samples = _require_data(site, found)
    protocol = with_bins_of(protocol, samples_of(protocol, found.truth))
    quota = monthly_quota or usual_quota(len(samples), hidden is not None)
    step = step_of(protocol, samples, quota) if hidden is not None else None
    facts = data_facts(protocol, found.data, samples, _link(download))
    facts["step"] = step
    with database.begin() as session:
        before = session.get(Benchmark, protocol.id)
        changed = before is not None and before.protocol_hash != protocol.hash
    if changed and not rescore:
        raise BadData(
            f"{protocol.id}: this site has it with another protocol, whose scores cannot be put "
            "into one table with these; give the new one another id, or have all entries scored "
            "again (--rescore)."
        )
    body = {
        # Of the truth that the present scores were made with: so a new one is noticed.
        **_known_truth(site, protocol.id),
        **_rounding(site, protocol.id, step),
        "protocol": protocol.model_dump(mode="json", exclude_unset=True),
        "protocol_hash": protocol.hash,
        "data": str(found.data),
        "hidden": None if found.hidden is None else str(found.hidden),
        "pending": "protocol" if changed else "",
    }
    write_body(site, protocol.id, body)
    found = registered(body, protocol.id)
    with database.begin() as session:
        row = Benchmark(
            id=protocol.id,
            title=protocol.title or protocol.id,
            about=" ".join(protocol.about.split())[:_ABOUT_CHARACTERS],
            hidden=found.hidden is not None,
            quantity=protocol.quantity,
            samples=[sample.id for sample in samples],
            monthly_quota=quota,
            most_bytes=most_bytes,
            added_at=now(),
            terms=" ".join(terms.split()),
            scenes={sample.id: sample.scene for sample in samples if sample.scene},
            facts=facts,
        )
        if before is None or not changed:  # else when all entries have new scores
            for name, value in public_facts(found).items():
                setattr(row, name, value)
        session.merge(row)
        session.flush()
        session.execute(delete(Thumbnail).where(Thumbnail.benchmark_id == protocol.id))
        session.add_all(thumbnails(protocol.id, samples))
        audit(session, "benchmark added", protocol.id)
    return found


def read_registered(site: Site, benchmark_id: str) -> Registered:
    """A benchmark by its id.

    Raises:
        BadData: There is none, or the protocol means something else with this version.
    """
    body = read_body(site, benchmark_id)
    found = registered(body, benchmark_id)
    if found.protocol.hash != body["protocol_hash"]:
        raise BadData(
            f"{benchmark_id}: with this version of depthgauge the protocol gives other numbers "
            "than when it was added; say `depthgauge serve rescore`, or install the version that "
            "was used then."
        )
    return found


def registered(body: Mapping[str, Any], benchmark_id: str) -> Registered:
    """The benchmark that a workers' file describes, with the protocol of this version."""
    hidden = Path(body["hidden"]) if body["hidden"] else None
    rounding = Rounding(**body["rounding"]) if body.get("rounding") else None
    protocol = make_protocol(body["protocol"], benchmark_id)
    return Registered(protocol, Path(body["data"]), hidden, rounding)


def public_facts(found: Registered) -> dict[str, Any]:
    """What the database says about the scores of a benchmark; it changes when they all do."""
    return {
        "protocol_hash": found.protocol.hash,
        "protocol": found.protocol.model_dump(mode="json", exclude_unset=True),
        "columns": list(_columns(found)),
    }


def read_body(site: Site, benchmark_id: str) -> dict[str, Any]:
    """The workers' file of a benchmark.

    Raises:
        BadData: There is none.
    """
    path = _file(site, benchmark_id)
    try:
        body: dict[str, Any] = json.loads(path.read_text())
    except (OSError, ValueError) as error:
        raise BadData(f"{path}: cannot be read ({error}); run `serve add` again.") from None
    return body


def write_body(site: Site, benchmark_id: str, body: Mapping[str, Any]) -> None:
    """Replaces the workers' file of a benchmark; nobody else can read it."""
    path = _file(site, benchmark_id)
    write_text(path, json.dumps(body, indent=1) + "\n")
    os.chmod(path, 0o600)


def _known_truth(site: Site, benchmark_id: str) -> dict[str, Any]:
    if not _file(site, benchmark_id).is_file():
        return {}
    body = read_body(site, benchmark_id)
    return {"truth_hash": body["truth_hash"]} if body.get("truth_hash") else {}


def _rounding(site: Site, benchmark_id: str, step: float | None) -> dict[str, Any]:
    """The step, with the secret that the benchmark has already: no value is rounded twice."""
    if step is None:
        return {}
    known = read_body(site, benchmark_id) if _file(site, benchmark_id).is_file() else {}
    secret = (known.get("rounding") or {}).get("secret") or secrets.token_hex(32)
    return {"rounding": {"step": step, "secret": secret}}


def _with_digits(protocol: Protocol, digits: int | None) -> Protocol:
    if digits is None:
        return protocol
    hidden = protocol.hidden.model_copy(update={"digits": digits})
    return protocol.model_copy(update={"hidden": hidden})


def _file(site: Site, benchmark_id: str) -> Path:
    if "/" in benchmark_id or unsafe(benchmark_id):
        raise BadData(f"'{benchmark_id[:80]}' is no id of a benchmark.")
    return site.workers / "benchmarks" / f"{benchmark_id}.json"


def _require_possible(protocol: Protocol) -> None:
    if protocol.twin is not None:
        raise Misuse(
            f"{protocol.id} reads files as the public program does, and a site writes every "
            "estimate anew before it is scored; add the benchmark without '-toolkit'"
        )
    if protocol.perturb:
        raise Misuse(f"{protocol.id} runs methods on changed images; estimates cannot be submitted")


def _link(address: str) -> str:
    if address and not re.fullmatch(r"https?://[^\s\"'<>]+", address):
        raise Misuse(f"'{address}' is no address; write https://example.org/data")
    return address


def _require_data(site: Site, found: Registered) -> list[Sample]:
    """The samples, if the folders have what they should, and nothing else."""
    for hidden in hidden_folders(site):
        if found.data.is_relative_to(hidden) or hidden.is_relative_to(found.data):
            raise BadData(f"{found.data}: another benchmark hides the truth in {hidden}; copy it.")
    public = samples_of(found.protocol, found.data)
    if found.hidden is None:
        if not all(sample.truth is not None for sample in public):
            raise BadData(
                f"{found.data}: some samples have no truth; name the folder with --hidden."
            )
        return public
    _require_apart(site, found.data, found.hidden)
    shown = [sample.id for sample in public if sample.truth is not None]
    if shown:
        raise BadData(
            f"{found.data}: has the truth of {len(shown)} samples beside their images, as of "
            f"{shown[0]}; give a folder without it (see --with-truth of the command that wrote it)."
        )
    kept = samples_of(found.protocol, found.hidden)
    if {s.id for s in kept} != {s.id for s in public} or any(s.truth is None for s in kept):
        raise BadData(
            f"{found.hidden}: must have exactly the samples of {found.data}, all with their truth."
        )
    return public


def _require_apart(site: Site, data: Path, hidden: Path) -> None:
    require_outside([hidden])
    for other in (data, site.web, *_public_folders(site)):
        if hidden.is_relative_to(other) or other.is_relative_to(hidden):
            raise BadData(
                f"{hidden}: the hidden truth must be neither inside of {other} nor around it; move "
                "it to a folder of its own."
            )


def _public_folders(site: Site) -> list[Path]:
    files = (site.workers / "benchmarks").glob("*.json")
    return [Path(json.loads(path.read_text())["data"]) for path in files]


def _columns(found: Registered) -> list[dict[str, Any]]:
    """The scores that are shown, the one that ranks first."""
    protocol = found.protocol
    wanted = protocol.score_ids if found.hidden is None else protocol.released_scores
    specs = {spec.id: spec for spec in protocol.specs}
    ordered = sorted(wanted, key=lambda name: name != protocol.main_score)
    return [
        {
            "id": name,
            "unit": specs[name].metric.unit_of(protocol.quantity, specs[name].params),
            "better": protocol.better(name),
        }
        for name in ordered
    ]


def known_benchmarks(database: Database) -> list[str]:
    """The ids of all benchmarks of a site."""
    with database.begin() as session:
        return list(session.scalars(select(Benchmark.id).order_by(Benchmark.id)))
