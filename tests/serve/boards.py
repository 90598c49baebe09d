"""A site with published entries whose released values are made up: nothing is scored."""

from tests.serve import tiny

from depthgauge.benchmarks import make_protocol
from depthgauge.io.text import parse_toml
from depthgauge.serve import board
from depthgauge.serve.storage.database import audit
from depthgauge.serve.storage.models import Benchmark, ReleasedScore, Submission, Team

SCENES = tuple(f"s{number}" for number in range(9))
SCORES = ("mae@all", "badpix:1@all", "badpix:1@visible", "density@all")
TOML = """
id = "open"
version = 1
title = "Open & <public>"
about = "Nine samples, with `code`."
dataset = "depthgauge"
quantity = "disparity"
missing = "bad"
pool = "image"
[[scores]]
metric = "mae"
[[scores]]
metric = "badpix"
threshold = [1]
region = ["all", "visible"]
[[scores]]
metric = "density"
"""
TIERS = TOML.replace(
    "[[scores]]", '[tiers]\nG0 = ["left_image", "rig"]\nG1 = ["left_image"]\n[[scores]]', 1
)


def add_benchmark(session, *, samples=SCENES, toml=TOML, hidden=False):
    """Opens a benchmark without data."""
    protocol = make_protocol(parse_toml(toml), "test")
    columns = [
        {"id": name, "unit": "%" if "mae" not in name else "px", "better": protocol.better(name)}
        for name in protocol.score_ids
    ]
    made = Benchmark(
        id=protocol.id,
        title=protocol.title,
        about=protocol.about,
        protocol_hash=protocol.hash,
        hidden=hidden,
        quantity=protocol.quantity,
        samples=list(samples),
        columns=columns,
        monthly_quota=5,
        most_bytes=1 << 20,
        added_at=1,
        protocol=protocol.model_dump(mode="json", exclude_unset=True),
    )
    session.add(made)
    session.flush()
    return made


def publish(session, benchmark, method, values, *, samples=True, **more):
    """An entry whose score of sample k is `values[k]`, on every score; means are over samples."""
    team = session.query(Team).filter_by(name="Team").one_or_none()
    if team is None:
        team = Team(name="Team", created_at=1)
        session.add(team)
        session.flush()
    fields = {"visibility": "public", "version": "", "details": {}, **more}
    made = Submission(
        id=f"id-{method}-{fields['version']}".replace(" ", ""),
        benchmark_id=benchmark.id,
        team_id=team.id,
        method=method,
        archive=tiny.sha256(method.encode()),
        size=1,
        state="scored",
        created_at=1,
        changed_at=1,
        **fields,
    )
    session.add(made)
    session.flush()
    for column in benchmark.columns:
        score = column["id"]
        known = [value for value in values if value is not None]
        mean = sum(known) / len(known)
        session.add(ReleasedScore(submission_id=made.id, sample="", score=score, value=mean))
        if samples:
            for name, value in zip(benchmark.samples, values, strict=True):
                row = {"submission_id": made.id, "sample": name, "score": score, "value": value}
                session.add(ReleasedScore(**row))
    session.flush()
    audit(session, "submission made public", made.id)
    return made, board.take_snapshot(session, benchmark.id)
