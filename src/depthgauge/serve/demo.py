"""A site to look at: two benchmarks, one with hidden truth, accounts, and scored baselines."""

from __future__ import annotations

import secrets
import time
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import select

from depthgauge._progress import Progress
from depthgauge.datasets import manifest_folder
from depthgauge.datasets._test_splits import without_truth
from depthgauge.engine.running.run import run
from depthgauge.serve import board
from depthgauge.serve.accounts.links import first_admin_link, make_link
from depthgauge.serve.accounts.people import join
from depthgauge.serve.client import pack
from depthgauge.serve.site import Site
from depthgauge.serve.storage.blobs import file_sha256
from depthgauge.serve.storage.database import Database, reading
from depthgauge.serve.storage.models import Submission, User
from depthgauge.serve.submissions import intake
from depthgauge.serve.submissions.registry import add_benchmark, known_benchmarks
from depthgauge.serve.submissions.worker import work_once

METHODS = ("sgbm", "bm", "constant")
HIDDEN = """
extends = "stereo-scenes"
id = "stereo-hidden"
version = 1
title = "Stereo scenes with hidden truth"
[hidden]
scores = ["badpix:2@all", "mae@all", "badpix:2@thin", "density@all"]
digits = 3
least_density = 0.4
"""
"""Block matching leaves many pixels out, so the least density is low here; six samples are few, so
digits are released that tell attackers much."""
_SIZE_PX = (240, 180)
_SCORED_S = 120


@dataclass(frozen=True, slots=True)
class DemoAccount:
    """Somebody who can log in to the demo."""

    role: str
    email: str
    password: str


def make_demo(
    site: Site, database: Database, folder: Path, *, progress: Progress | None = None
) -> list[DemoAccount]:
    """Fills an empty site; passwords are random and known to nobody else.

    Args:
        site: A new site.
        database: Its database.
        folder: Where the data goes; outside of what the web process reads.
        progress: Called before each step.

    Returns:
        The accounts; none if the site is not empty, which is left as it is.
    """
    if known_benchmarks(database):
        return []
    steps = ["accounts", "scenes", *METHODS]

    def begin(step: str) -> None:
        if progress is not None:
            progress(step, steps.index(step), len(steps))

    begin("accounts")
    accounts = _make_accounts(database)
    begin("scenes")
    _make_benchmarks(site, database, folder)
    organiser = organiser_of(database)
    for method in METHODS:
        begin(method)
        run("stereo-scenes", folder / "open", [method], folder / f"run-{method}", workers=0)
        estimates = folder / f"run-{method}" / "estimates" / method
        for benchmark in ("stereo-scenes", "stereo-hidden"):
            submit(site, database, organiser, benchmark, method, estimates)
    return accounts


def organiser_of(database: Database) -> User:
    """Who submits the baselines."""
    with reading(database) as session:
        admins = select(User).where(User.role == "admin").order_by(User.id)
        return session.scalars(admins.limit(1)).one()


def _make_accounts(database: Database) -> list[DemoAccount]:
    found = []
    for role, name in (("admin", "Ada"), ("author", "Ben"), ("author", "Cleo")):
        account = DemoAccount(role, f"{name.lower()}@demo.example", secrets.token_urlsafe(12))
        with database.begin() as session:
            link = first_admin_link(session) if role == "admin" else None
            link = link or make_link(session, "invitation")
            join(session, link, account.email, name, account.password)
        found.append(account)
    return found


def _make_benchmarks(site: Site, database: Database, folder: Path) -> None:
    from depthgauge.synth.sets.stereo_scenes import make_scenes

    scenes = list(make_scenes(size_px=_SIZE_PX))
    bare = list(without_truth(scenes))
    for name, samples in (("open", scenes), ("public", bare), ("hidden", scenes)):
        manifest_folder.write(
            folder / name,
            samples,
            id="stereo-scenes",
            title="Stereo scenes",
            licence="CC0-1.0",
            overwrite=True,
        )
    (folder / "stereo-hidden.toml").write_text(HIDDEN)
    hidden = str(folder / "stereo-hidden.toml")
    add_benchmark(site, database, "stereo-scenes", folder / "open", monthly_quota=20)
    add_benchmark(
        site, database, hidden, folder / "public", hidden=folder / "hidden", monthly_quota=20
    )


def submit(
    site: Site, database: Database, user: User, benchmark: str, method: str, estimates: Path
) -> None:
    """As a participant would; then it is scored, here or by a worker, and made a baseline."""
    archive = site.uploads / f"demo-{benchmark}.zip"
    pack(estimates, archive)
    size, sha256 = archive.stat().st_size, file_sha256(archive)
    upload_id = intake.begin_upload(site, database, user, benchmark, size, sha256)
    archive.replace(intake.upload_file(site, upload_id))
    made = intake.submit(site, database, user, upload_id, intake.Entry(method))
    end = time.monotonic() + _SCORED_S
    while time.monotonic() < end:
        work_once(site, database)
        with database.begin() as session:
            found = session.get_one(Submission, made.id)
            if found.state == "scored":
                board.publish(session, found, user, "baseline")
            if found.state in ("scored", "failed", "withdrawn"):
                return
        time.sleep(0.2)  # a worker has it
