"""Batches of photographs that members of a site draw on.

A batch is a study, as `depthgauge annotate` reads it: `images/`, `records/PERSON/PICTURE.jsonl`,
`votes.jsonl`. Beside that, `assignments.jsonl` says who took which photograph, and `batch.json`
what the organisers want. Lines are only ever appended. People are called `person-NUMBER`: nobody's
name is in the files.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import shutil
import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from depthgauge.annotate.records import Annotation, read_records
from depthgauge.annotate.records.votes import Vote, append_vote, read_votes, tally
from depthgauge.errors import BadData, BadFile, CannotWrite, DepthgaugeError, Misuse, Refused
from depthgauge.io import write_text
from depthgauge.io.json_lines import append_line, is_whole, parse_object
from depthgauge.io.text import parse_json
from depthgauge.serve.desk.photographs import IMAGES, photographs, records_path
from depthgauge.serve.site import Site

_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,63}")
_TAKING = threading.Lock()
"""One web process takes photographs for its people one after the other."""


@dataclass(frozen=True, slots=True)
class Batch:
    """Photographs, and how many people draw on each."""

    id: str
    folder: Path
    title: str
    people: int
    quiz: str = ""
    """The quiz that people must have passed; empty for none."""
    scenes: Mapping[str, str] = field(default_factory=dict)
    """Of a quiz: the synthetic scene behind each picture."""
    focal_px: Mapping[str, float] = field(default_factory=dict)
    """Focal lengths that are known without the camera's notes."""

    @property
    def pictures(self) -> list[str]:
        """The photographs by their ids, in the order in which they are given out."""
        return list(photographs(self.folder))

    def taken(self) -> dict[str, list[str]]:
        """Who took each photograph, in that order."""
        found: dict[str, list[str]] = {picture: [] for picture in self.pictures}
        for line in _lines(self.folder / "assignments.jsonl"):
            people = found.get(str(line.get("picture")))
            if people is not None and line.get("who") not in people:
                people.append(str(line.get("who")))
        return found

    def take(self, who: str, disputed: frozenset[str] = frozenset()) -> str | None:
        """Gives a person the next photograph that needs somebody; None if there is none.

        Who has one that is not finished gets that one again.

        Args:
            who: The person.
            disputed: Photographs about which people disagree; they need one person more.
        """
        with _TAKING:
            taken, wanted = self.taken(), self.wanted()
            for picture, people in taken.items():
                if who in people and not self.is_finished(who, picture):
                    return picture
            open_ones = [
                (len(people), place, picture)
                for place, (picture, people) in enumerate(taken.items())
                if who not in people
                and len(people) < wanted[picture] + (picture in disputed)
                and picture not in list(self.scenes)[:1]
            ]
            if not open_ones:
                return None
            # Those that somebody has begun come first: they can be compared sooner.
            begun = 0 if self.scenes else -1
            _, _, picture = min(open_ones, key=lambda one: (begun * one[0], one[1]))
            line = {"picture": picture, "who": who, "at": _now()}
            append_line(self.folder / "assignments.jsonl", json.dumps(line, separators=(",", ":")))
            return picture

    def wanted(self) -> dict[str, int]:
        """How many people each photograph needs: one more for each drawing that votes reject."""
        found = dict.fromkeys(self.pictures, self.people)
        for name, one in self.tallies().items():
            picture = name.partition("/")[2]
            if one.status == "rejected" and picture in found:
                found[picture] += 1
        return found

    def require_taken(self, who: str, picture: str) -> None:
        """Requires that a person may draw on a photograph.

        Raises:
            Refused: Somebody else has it.
        """
        if who not in self.taken().get(picture, []):
            raise Refused("not-found", "There is no such photograph among yours")

    def drawing(self, who: str, picture: str) -> Annotation | None:
        """What a person drew; None if nothing, or if the file cannot be read."""
        path = records_path(self.folder, who, picture)
        try:
            return read_records(path) if path.is_file() else None
        except DepthgaugeError:
            return None

    def is_finished(self, who: str, picture: str) -> bool:
        """Whether a person said that a drawing is finished."""
        found = self.drawing(who, picture)
        return found is not None and found.finished

    def tallies(self) -> dict[str, Tallied]:
        """The votes on each drawing, by `person/picture`."""
        path = self.folder / "votes.jsonl"
        votes = read_votes(path)[0] if path.is_file() else []
        counted = tally(votes)
        voters: dict[str, set[str]] = {}
        for vote in votes:
            voters.setdefault(vote.annotation, set()).add(vote.who)
        return {
            name: Tallied(one.good, one.bad, one.status, frozenset(voters[name]))
            for name, one in counted.items()
        }

    def to_verify(self, who: str) -> tuple[str, str] | None:
        """A finished drawing of somebody else that needs this person's vote: person and picture."""
        if self.scenes:
            return None  # a quiz has its key
        counted = self.tallies()
        waiting = []
        for picture, people in self.taken().items():
            for person in people:
                one = counted.get(f"{person}/{picture}", Tallied())
                if person == who or who in one.voters or one.status != "pending":
                    continue
                if self.is_finished(person, picture):
                    waiting.append((-(one.good + one.bad), person, picture))
        if not waiting:
            return None
        _, person, picture = min(waiting)
        return person, picture

    def vote(self, who: str, person: str, picture: str, good: bool) -> None:
        """Notes what a person thinks of somebody else's drawing.

        Raises:
            Refused: It is their own, or there is none.
        """
        if person == who:
            raise Refused("forbidden", "You cannot vote on your own drawing")
        if person not in self.taken().get(picture, []) or not self.is_finished(person, picture):
            raise Refused("not-found", "There is no such drawing to vote on")
        append_vote(self.folder / "votes.jsonl", Vote(f"{person}/{picture}", who, good, _now()))

    def marks_key(self) -> bytes:
        """What marks of drawings in addresses are made with: random, and the same for ever.

        Raises:
            CannotWrite: It cannot be kept.
        """
        path = self.folder / "marks.key"
        try:
            if not path.is_file():
                _keep_secret(path)
            return path.read_bytes()
        except OSError as error:
            raise CannotWrite(f"{path}: cannot be written ({error.strerror}).") from None


def _keep_secret(path: Path) -> None:
    """Writes a random key, unless another process has done so; nobody sees half of it."""
    aside = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    handle = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "wb") as file:
        file.write(secrets.token_bytes(32))
    try:
        os.link(aside, path)
    except FileExistsError:
        pass
    finally:
        aside.unlink()


@dataclass(frozen=True, slots=True)
class Tallied:
    """Votes on one drawing."""

    good: int = 0
    bad: int = 0
    status: str = "pending"
    voters: frozenset[str] = frozenset()


def person_of(user_id: int) -> str:
    """How a member is called in the files of a batch."""
    return f"person-{user_id}"


def batches(site: Site) -> list[Batch]:
    """All batches of a site, by name."""
    root = _root(site)
    names = sorted(path.name for path in root.iterdir()) if root.is_dir() else []
    return [find_batch(site, name) for name in names if (root / name / "batch.json").is_file()]


def find_batch(site: Site, name: str) -> Batch:
    """A batch by its name.

    Raises:
        Refused: There is none.
    """
    path = _root(site) / name / "batch.json"
    if not _NAME.fullmatch(name) or not path.is_file():
        raise Refused("not-found", "There is no such batch")
    wanted = parse_json(path.read_text("utf-8"))
    return Batch(
        name,
        path.parent,
        str(wanted["title"]),
        int(wanted["people"]),
        str(wanted.get("quiz", "")),
        dict(wanted.get("scenes", {})),
        dict(wanted.get("focal_px", {})),
    )


def batch_folder(site: Site, name: str) -> Path:
    """Where a batch of that name is.

    Raises:
        Misuse: That is no name of a batch.
    """
    if not _NAME.fullmatch(name):
        raise Misuse(f"a batch is named with small letters, digits and hyphens, not '{name}'.")
    return _root(site) / name


def add_batch(
    site: Site, name: str, folder: Path, *, people: int = 2, title: str = "", quiz: str = ""
) -> Batch:
    """Opens the photographs of a folder for drawing; the site keeps a copy.

    Added again with more photographs, the new ones are taken as well.

    Args:
        site: The site.
        name: In addresses: small letters, digits and hyphens.
        folder: The photographs, in it or in its `images`.
        people: How many draw on each.
        title: What members read; the name by default.
        quiz: The quiz that people must have passed first.

    Raises:
        Misuse: That is no name of a batch.
        BadData: There are no photographs, or one differs from what the batch has under its name.
        CannotWrite: The copy cannot be written.
    """
    target = batch_folder(site, name) / IMAGES
    found = photographs(folder)
    if quiz:
        find_batch(site, quiz)
    try:
        target.mkdir(parents=True, exist_ok=True)
        for one in found.values():
            _copy(one.path, target / one.path.name)
    except OSError as error:
        raise CannotWrite(f"{target}: cannot be written ({error.strerror}).") from None
    wanted = {"schema": 1, "title": title or name, "people": people, "quiz": quiz}
    write_text(target.parent / "batch.json", json.dumps(wanted) + "\n")
    return find_batch(site, name)


def _copy(source: Path, target: Path) -> None:
    if target.is_file():
        if target.read_bytes() != source.read_bytes():
            raise BadData(f"{source}: the batch has another photograph of that name; rename one.")
        return
    aside = target.with_name(f".{target.name}.part")
    shutil.copyfile(source, aside)
    aside.replace(target)


def _root(site: Site) -> Path:
    return site.web / "annotation"


def _lines(path: Path) -> Iterable[dict[str, object]]:
    """The lines of a file; one that a killed process left half written is skipped."""
    if not path.is_file():
        return
    for line in path.read_bytes().split(b"\n"):
        if line.strip() and is_whole(line):
            try:
                yield parse_object(path.name, line)
            except BadFile:
                continue


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
