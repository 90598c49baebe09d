"""Suites: benchmarks whose scores are put side by side, one TOML file each.

The members keep their own protocols, data and hashes; a suite only says which of their scores make
one table. Variants are changes of a protocol that papers put into the same table, such as another
space of alignment; a row says which it has.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from depthgauge import _registry
from depthgauge._once import cached_property
from depthgauge.benchmarks import BENCHMARKS, Protocol
from depthgauge.errors import BadProtocol, Problem
from depthgauge.io.text import read_toml

__all__ = ["SUITES", "Suite", "load_suite"]


class Suite(BaseModel):
    """Which benchmarks, and which of their scores, make one table."""

    model_config = ConfigDict(extra="forbid", frozen=True, ignored_types=(cached_property,))

    id: str = Field(pattern=r"^[a-z0-9][a-z0-9-]*$")
    version: int = Field(ge=1, strict=True)
    title: str = ""
    about: str = ""
    members: dict[str, str] = Field(min_length=1)
    """Short names for columns and options, with the ids of benchmarks."""
    scores: tuple[str, ...] = Field(min_length=1)
    """Ids of scores that every member has; each is one column per member."""
    variants: dict[str, dict[str, Any]] = {"": {}}
    """Changes of every member's protocol that are accepted too, by the word that a row shows."""

    @cached_property
    def protocols(self) -> dict[tuple[str, str], Protocol]:
        """The protocol of each member and variant."""
        return {
            (member, variant): _changed(BENCHMARKS[name], changes)
            for member, name in self.members.items()
            for variant, changes in self.variants.items()
        }

    @cached_property
    def by_hash(self) -> dict[str, tuple[str, str]]:
        """Member and variant by protocol hash."""
        return {protocol.hash: key for key, protocol in self.protocols.items()}

    def better(self, score_id: str) -> str:
        """The direction of a score, which is the same in all members."""
        return next(iter(self.protocols.values())).better(score_id)


def _changed(protocol: Protocol, changes: Mapping[str, Any]) -> Protocol:
    """A protocol with other keys; tables are merged."""
    plain = protocol.model_dump(exclude_unset=True)
    update = {
        key: {**plain.get(key, {}), **value} if isinstance(value, dict) else value
        for key, value in changes.items()
    }
    return protocol.model_copy(update=update) if update else protocol


def load_suite(path: Path) -> Suite:
    """Reads and checks a suite's file.

    Raises:
        BadProtocol: A key is wrong, or a member lacks a score.
    """
    try:
        suite = Suite.model_validate(read_toml(path))
    except ValidationError as error:
        wrong = [Problem(".".join(map(str, e["loc"])), e["msg"].lower()) for e in error.errors()]
        raise BadProtocol(str(path), wrong) from None
    lacking = [
        Problem(f"members.{member}", f"{name} has no score '{score}'")
        for member, name in suite.members.items()
        for score in suite.scores
        if score not in BENCHMARKS[name].score_ids
    ]
    if lacking:
        raise BadProtocol(str(path), lacking)
    return suite


class _Suites(Mapping[str, Suite]):
    """Suites by id, which is the file's name; each is read on first use."""

    def __init__(self) -> None:
        self._read: dict[str, Suite] = {}

    @cached_property
    def _paths(self) -> dict[str, Path]:
        return {path.stem: path for path in sorted(Path(__file__).parent.glob("*.toml"))}

    def __getitem__(self, name: str) -> Suite:
        if name not in self._paths:
            raise _registry.unknown("suite", name, self)
        if name not in self._read:
            self._read[name] = load_suite(self._paths[name])
        return self._read[name]

    def titles(self) -> dict[str, str]:
        """All names with their titles; nothing else of the files is read."""
        return {name: str(read_toml(path).get("title", "")) for name, path in self._paths.items()}

    def __contains__(self, name: object) -> bool:
        return name in self._paths

    def __iter__(self) -> Iterator[str]:
        return iter(self._paths)

    def __len__(self) -> int:
        return len(self._paths)


SUITES = _Suites()
