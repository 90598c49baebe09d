"""`python -m perf.serve_load`: a site under load, on this machine, the generator included.

A site in a temporary folder has a leaderboard of 100 methods, 30 scenes and 20 scores. First, 200
readers ask for its pages, each with a second of thinking after every answer; then they go on while
20 people upload 200 MB each at the same time. Before that, an entry is published, and the first
reader after it asks for the table. Writes `perf/serve_load.json` and the table of
`docs/operators.md` that is made from it; `--publication` measures that part alone.
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import hashlib
import json
import os
import platform
import signal
import socket
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np
from tools._measured import table, update

from depthgauge.datasets import manifest_folder
from depthgauge.serve import board
from depthgauge.serve.accounts import links, people
from depthgauge.serve.site import Site, open_site
from depthgauge.serve.storage.database import Database, now
from depthgauge.serve.storage.models import ReleasedScore, Submission, Team, User
from depthgauge.serve.submissions.registry import add_benchmark
from depthgauge.types import Inputs, Sample, Truth

HERE = Path(__file__).parent
_PIECE = 8 << 20
_THINK_S = 1.0
_START_S = 60.0
TOML = """
id = "load"
version = 1
title = "Load"
dataset = "depthgauge"
quantity = "disparity"
missing = "bad"
pool = "image"
[[scores]]
metric = "badpix"
threshold = [0.5, 1, 1.5, 2, 2.5, 3, 3.5, 4, 5, 6, 7, 8, 9, 10]
[[scores]]
metric = "quantile"
percent = [50, 75, 90, 95]
[[scores]]
metric = "mae"
[[scores]]
metric = "rms"
"""


@dataclass(frozen=True)
class Size:
    """How large the load is."""

    methods: int = 100
    scenes: int = 30
    readers: int = 200
    reading_s: float = 30.0
    uploads: int = 20
    upload_mb: int = 200


@dataclass
class Seen:
    """What the readers met."""

    seconds: list[float] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    bytes: int = 0


def measure(size: Size, *, only_publication: bool = False) -> dict[str, Any]:
    """Makes the site, runs it, asks it."""
    with tempfile.TemporaryDirectory(prefix="depthgauge-load-") as name:
        site = open_site(Path(name) / "site")
        with site.connected() as database:
            tokens = _fill(site, database, Path(name), size)
        with socket.socket() as trial:
            trial.bind(("127.0.0.1", 0))
            port = trial.getsockname()[1]
        process = _start(site, port)
        try:
            _wait(port)
            found = {"publication": asyncio.run(_publication(port, tokens[0]))}
            return found if only_publication else asyncio.run(_load(size, port, tokens)) | found
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(30)


def _fill(site: Site, database: Database, folder: Path, size: Size) -> list[str]:
    """A benchmark with published entries, and people with tokens."""
    image = np.zeros((12, 16, 3), np.uint8)
    samples = [
        Sample(
            f"scene-{number:02}",
            Inputs({"left_image": image, "right_image": image, "disparity_range": (0.0, 9.0)}),
            Truth({"disparity": np.full((12, 16), 4.0, np.float32)}),
        )
        for number in range(size.scenes)
    ]
    manifest_folder.write(folder / "data", samples, id="load", title="Load", licence="CC0-1.0")
    (folder / "load.toml").write_text(TOML)
    protocol = add_benchmark(site, database, str(folder / "load.toml"), folder / "data").protocol
    rng = np.random.default_rng(0)
    with database.begin() as session:
        team = Team(name="Authors of methods", created_at=now())
        session.add(team)
        session.flush()
    tokens = [_person(database, number) for number in range(max(1, size.uploads))]
    with database.begin() as session:
        own = session.query(User).filter_by(email=_mail(0)).one().team_id
        for number in range(size.methods):
            # The last one is not published yet.
            last = number == size.methods - 1
            entry = _entry(number, own if last else team.id, "private" if last else "public")
            values = rng.gamma(4, 1 + number / 100, (size.scenes, len(protocol.score_ids)))
            for row, sample in zip(values, samples, strict=True):
                entry.scores += _scores(sample.id, protocol.score_ids, row)
            entry.scores += _scores("", protocol.score_ids, values.mean(axis=0))
            session.add(entry)
        session.flush()
        board.take_snapshot(session, "load")
    return tokens


def _entry(number: int, team_id: int, visibility: str) -> Submission:
    return Submission(
        id=f"{number:016x}",
        benchmark_id="load",
        team_id=team_id,
        method=f"Method {number}",
        details={},
        archive=f"{number:064x}",
        size=1,
        visibility=visibility,
        state="scored",
        created_at=now(),
        changed_at=now(),
    )


def _scores(sample: str, names: tuple[str, ...], values: Any) -> list[ReleasedScore]:
    return [
        ReleasedScore(sample=sample, score=name, value=float(value))
        for name, value in zip(names, values, strict=True)
    ]


def _mail(number: int) -> str:
    return f"p{number}@load.example"


def _person(database: Database, number: int) -> str:
    mail = _mail(number)
    with database.begin() as session:
        people.join(session, links.make_link(session, "invitation"), mail, "P", "a long password")
        user = session.query(User).filter_by(email=mail).one()
        return people.make_token(session, user, "load", people.SCOPES, 1)


def _start(site: Site, port: int) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "depthgauge", "serve", str(site.root)]
    command += ["--port", str(port), "--workers", "0"]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def _wait(port: int) -> None:
    end = time.monotonic() + _START_S
    while time.monotonic() < end:
        try:
            socket.create_connection(("127.0.0.1", port), 0.5).close()
            return
        except OSError:
            time.sleep(0.2)
    raise SystemExit("the site does not start")


# --- the generator --------------------------------------------------------------------------------


class Client:
    """One connection that is kept open, as a browser keeps it."""

    def __init__(self, port: int, token: str = "") -> None:
        self.port = port
        self.head = f"Host: 127.0.0.1:{port}\r\nAccept-Encoding: gzip\r\n"
        self.head += f"Authorization: Bearer {token}\r\n" if token else ""
        self.streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def ask(self, method: str, path: str, body: bytes = b"") -> tuple[int, bytes]:
        """Status and body of an answer."""
        if self.streams is None:
            self.streams = await asyncio.open_connection("127.0.0.1", self.port)
        reader, writer = self.streams
        kind = "Content-Type: application/json\r\n" if body[:1] == b"{" else ""
        head = f"{method} {path} HTTP/1.1\r\n{self.head}{kind}Content-Length: {len(body)}\r\n\r\n"
        writer.write(head.encode() + body)
        await writer.drain()
        lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower().split("\r\n")
        fields = dict(line.split(": ", 1) for line in lines[1:] if ": " in line)
        answer = await reader.readexactly(int(fields.get("content-length", 0)))
        if fields.get("connection") == "close":
            self.close()
        return int(lines[0].split()[1]), answer

    def close(self) -> None:
        """Ends the connection."""
        if self.streams is not None:
            self.streams[1].close()
            self.streams = None


def _pages() -> list[str]:
    """What readers look at: mostly leaderboards, in all views."""
    views = ["", "?metric=mae", "?metric=badpix:2", "?scene=scene-03", "?metric=rms&region=all"]
    return ["/", *(f"/benchmarks/load{view}" for view in views), "/api/benchmarks"]


async def _read(number: int, size: Size, port: int, seen: Seen, until: float) -> None:
    client = Client(port)
    try:
        await asyncio.sleep(_THINK_S * number / size.readers)  # nobody begins at the same moment
        turn = number
        while time.monotonic() < until:
            await _look(client, _pages()[turn % len(_pages())], seen)
            turn += 1
            await asyncio.sleep(_THINK_S)
    finally:
        client.close()


async def _look(client: Client, path: str, seen: Seen) -> None:
    begun = time.perf_counter()
    try:
        status, body = await client.ask("GET", path)
        seen.bytes += len(body)
        if status != 200:
            seen.failures.append(f"{path}: {status}")
    except (OSError, asyncio.IncompleteReadError) as error:
        seen.failures.append(f"{path}: {error!r}")
        client.close()
    seen.seconds.append(time.perf_counter() - begun)


async def _upload(number: int, size: Size, port: int, token: str) -> tuple[float, str]:
    """Sends an archive and submits it; seconds, and what went wrong."""
    piece = bytes(_PIECE)
    first = number.to_bytes(8, "big") + piece[8:]
    total, left = size.upload_mb * 1_000_000, size.upload_mb * 1_000_000
    digest = hashlib.sha256()
    while left:
        part = (first if left == total else piece)[:left]
        digest.update(part)
        left -= len(part)
        await asyncio.sleep(0)
    client, begun, sent = Client(port, token), time.perf_counter(), 0
    told = json.dumps({"size": total, "sha256": digest.hexdigest()}).encode()
    status, body = await client.ask("POST", "/api/benchmarks/load/uploads", told)
    if status != 201:
        return 0.0, f"announcing: {status} {body[:200]!r}"
    place = f"/api/uploads/{json.loads(body)['id']}"
    while sent < total:
        part = (piece if sent else first)[: total - sent]
        status, body = await client.ask("PUT", f"{place}?offset={sent}", part)
        if status != 200:
            return 0.0, f"piece at {sent}: {status} {body[:200]!r}"
        sent += len(part)
    status, body = await client.ask("POST", f"{place}/submit", b'{"method": "M"}')
    client.close()
    wrong = "" if status == 202 else f"submitting: {status} {body[:200]!r}"
    return time.perf_counter() - begun, wrong


async def _publication(port: int, token: str) -> dict[str, Any]:
    """How long publishing takes, and the first reader after it waits."""
    await _read_all_once(port)
    author, reader = Client(port, token), Client(port)
    begun = time.perf_counter()
    (mine,) = json.loads((await author.ask("GET", "/api/submissions"))[1])
    status, body = await author.ask(
        "POST", f"/api/submissions/{mine['id']}/visibility", b'{"visibility": "public"}'
    )
    if status != 200:
        raise SystemExit(f"publishing: {status} {body[:200]!r}")
    published = time.perf_counter()
    _, table_page = await reader.ask("GET", "/benchmarks/load")
    read = time.perf_counter()
    if mine["method"].encode() not in gzip.decompress(table_page):
        raise SystemExit("the entry is not in the table that was read after it was published")
    for client in (author, reader):
        client.close()
    return {
        "publishing, s": round(published - begun, 2),
        "first reader, s": round(read - published, 3),
    }


async def _load(size: Size, port: int, tokens: list[str]) -> dict[str, Any]:
    await _read_all_once(port)
    alone, beside = Seen(), Seen()
    until = time.monotonic() + size.reading_s
    await asyncio.gather(*(_read(n, size, port, alone, until) for n in range(size.readers)))
    stop = time.monotonic() + 3600
    readers = [asyncio.create_task(_read(n, size, port, beside, stop)) for n in range(size.readers)]
    begun = time.perf_counter()
    ended = await asyncio.gather(
        *(_upload(n, size, port, token) for n, token in enumerate(tokens)), return_exceptions=True
    )
    took = time.perf_counter() - begun
    for task in readers:
        task.cancel()
    await asyncio.gather(*readers, return_exceptions=True)
    await asyncio.sleep(0.2)  # for connections to end
    wrong = [repr(one) if isinstance(one, BaseException) else one[1] for one in ended]
    return {
        "machine": f"{os.cpu_count()} cores, {platform.machine()}",
        "size": vars(size),
        "reading": _summary(alone, size.reading_s),
        "reading during uploads": _summary(beside, took),
        "uploads": {
            "all of them, s": round(took, 1),
            "MB/s": round(size.uploads * size.upload_mb / took, 1),
            "errors": [one for one in wrong if one],
        },
    }


async def _read_all_once(port: int) -> None:
    client = Client(port)
    for page in _pages():
        status, _ = await client.ask("GET", page)
        if status != 200:
            raise SystemExit(f"{urlsplit(page).path}: the site answers {status}")
    client.close()


def _summary(seen: Seen, seconds: float) -> dict[str, Any]:
    times = np.array(seen.seconds or [np.nan])
    return {
        "requests": len(seen.seconds),
        "requests a second": round(len(seen.seconds) / seconds, 1),
        "median, s": round(float(np.median(times)), 4),
        "p95, s": round(float(np.quantile(times, 0.95)), 4),
        "longest, s": round(float(times.max()), 3),
        "MB": round(seen.bytes / 1e6, 1),
        "errors": sorted(set(seen.failures))[:5],
        "failed": len(seen.failures),
    }


def write_page(*, check: bool = False) -> bool:
    """Brings the table of docs/operators.md up to date; True where it is."""
    found = json.loads((HERE / "serve_load.json").read_text())
    columns = ("requests a second", "median, s", "p95, s", "longest, s", "failed")
    rows = [
        [name, *(f"{found[name][column]:g}" for column in columns)]
        for name in ("reading", "reading during uploads")
    ]
    size, uploads = found["size"], found["uploads"]
    sentence = (
        f"{size['readers']} readers of {size['methods']} methods x {size['scenes']} scenes x 20 "
        f"scores, {size['uploads']} uploads of {size['upload_mb']} MB at the same time "
        f"({uploads['all of them, s']:g} s together, {len(uploads['errors'])} errors), on "
        f"{found['machine']}, which ran the readers, too. Publishing an entry takes its author "
        f"{found['publication']['publishing, s']:g} s; the first reader after it waits "
        f"{found['publication']['first reader, s']:g} s."
    )
    text = f"{table(['', *columns], rows)}\n\n{sentence}"
    return update("operators.md", {"load": text}, "perf.serve_load", check)


def main() -> None:
    """Measures, writes the record and the page."""
    parser = argparse.ArgumentParser(prog="python -m perf.serve_load", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small: proves that it works")
    parser.add_argument("--publication", action="store_true", help="measure that part alone")
    parser.add_argument("--out", type=Path, default=HERE / "serve_load.json")
    options = parser.parse_args()
    size = Size(10, 5, 20, 4.0, 2, 10) if options.quick else Size()
    found = measure(size, only_publication=options.publication)
    if options.publication and options.out.is_file():
        found = json.loads(options.out.read_text()) | found
    print(json.dumps(found, indent=1))
    if not options.quick:
        options.out.write_text(json.dumps(found, indent=1) + "\n")
        write_page()


if __name__ == "__main__":
    main()
