"""Scores by tags: how every method does in rain, at night, on reflections, and elsewhere."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from depthgauge._canonical import finite_data
from depthgauge._progress import Progress
from depthgauge._registry import unknown
from depthgauge.analysis.strata import Value, stratum_rows
from depthgauge.benchmarks import Protocol
from depthgauge.datasets.tags import UNTAGGED, Tags, find_tags, read_tags
from depthgauge.engine.running.maps import RunMaps
from depthgauge.engine.scoring.gather import gather
from depthgauge.engine.scoring.judge import Judge
from depthgauge.engine.scoring.rules import Outcome, Rules
from depthgauge.engine.store.record import Key, Run
from depthgauge.errors import DepthgaugeError, Misuse

PIXELS = "pixels"
"""The kind of tags that are regions."""


@dataclass(frozen=True)
class Stratum:
    """One tag: all methods on the samples, or pixels, that have it."""

    kind: str
    """`weather` ..., or `pixels`."""
    tag: str
    samples: int
    share: float
    """Of the samples, or of the pixels with truth, 0 to 1."""
    values: Mapping[str, Value]
    """By label."""


@dataclass(frozen=True)
class StrataTable:
    """One score of every method in every stratum."""

    score: str
    unit: str
    better: str
    labels: tuple[str, ...]
    all: Stratum
    """Everything."""
    strata: tuple[Stratum, ...]
    notes: tuple[str, ...] = field(default=())

    def to_json(self) -> dict[str, Any]:
        """As plain data."""

        def plain(each: Stratum) -> dict[str, Any]:
            values = {
                label: {"value": v.value, "half": v.half, "why": v.dash, "samples": v.used}
                for label, v in each.values.items()
            }
            own = {n: getattr(each, n) for n in ("kind", "tag", "samples", "share")}
            return {**own, "values": values}

        body: dict[str, Any] = finite_data(
            {
                "schema": 1,
                "score": self.score,
                "unit": self.unit,
                "better": self.better,
                "all": plain(self.all),
                "strata": [plain(each) for each in self.strata],
                "notes": list(self.notes),
            }
        )
        return body


def tags_of(run: Run, files: Sequence[str | Path], data: Path | None = None) -> Tags | None:
    """All tags of some files together; without files, those beside the run's dataset.

    Raises:
        Misuse: Two files say something about the same kind, or name the same region.
    """
    if not files:
        root = Path(run.info.get("data", "") if data is None else data)
        beside = find_tags(root) if str(root) not in ("", ".") else None
        return None if beside is None else read_tags(beside)
    found = [read_tags(each) for each in files]
    samples: dict[str, dict[str, tuple[str, ...]]] = {}
    regions: dict[str, str] = {}
    kinds: set[str] = set()
    for tags in found:
        twice = sorted((kinds & set(tags.kinds)) | (regions.keys() & tags.regions.keys()))
        if twice:
            raise Misuse(f"{tags.source}: '{twice[0]}' is in another file, too; keep one of them.")
        kinds |= set(tags.kinds)
        regions |= tags.regions
        for name, words in tags.samples.items():
            samples.setdefault(name, {}).update(words)
    return Tags(", ".join(tags.source for tags in found), samples, regions)


def strata_table(
    run: Run,
    tags: Tags,
    score: str | None = None,
    *,
    data: Path | None = None,
    progress: Progress | None = None,
) -> StrataTable:
    """The values of one score by tags of samples, and by regions of pixels where there are any.

    Args:
        run: A finished run; for regions, with its estimates.
        tags: As `read_tags` gives them.
        score: The score; the main one by default. Regions take its metric.
        data: The dataset's folder, for regions; by default the one that the run used.
        progress: Called after each sample, for regions.

    Raises:
        Misuse: Nothing of this run has a tag.
    """
    score = score or run.protocol.main_score
    if score not in run.protocol.score_ids:
        raise unknown("score", score, run.protocol.score_ids)
    whole = _of_samples(run, score, "", {"all": run.samples})[0]
    found = [
        each
        for kind in tags.kinds
        for each in _of_samples(run, score, kind, tags.strata(kind, run.samples))
    ]
    notes = list(tags.check(run.samples))
    if tags.regions:
        more, lost = _of_pixels(run, score, tags.regions, data, progress)
        found += more
        notes += lost
    if not any(each.tag != UNTAGGED for each in found):
        said = f" {notes[0]}" if notes else ""
        raise Misuse(f"{tags.source}: no tag belongs to what this run scored.{said}")
    return StrataTable(
        score,
        next(iter(run.results.values())).summary[score].unit,
        run.protocol.better(score),
        tuple(entrant.label for entrant in run.entrants),
        whole,
        tuple(found),
        tuple(notes),
    )


def _of_samples(
    run: Run, score: str, kind: str, strata: Mapping[str, Sequence[str]]
) -> list[Stratum]:
    rows = stratum_rows(run, {name: tuple(members) for name, members in strata.items()})
    found: dict[str, dict[str, Value]] = {name: {} for name in strata}
    for row in rows:
        found[row.stratum][row.label] = row.values[score]
    n = len(run.samples)
    return [
        Stratum(kind, name, len(members), len(members) / n, found[name])
        for name, members in strata.items()
    ]


def _of_pixels(
    run: Run,
    score: str,
    regions: Mapping[str, str],
    data: Path | None,
    progress: Progress | None,
) -> tuple[list[Stratum], list[str]]:
    """The stored estimates, scored again on regions that the run did not have."""
    protocol, ids, lost = _with_regions(run.protocol, score, regions)
    measured, shares = _measured(run, protocol, data, progress)
    found = []
    for tag, score_id in ids.items():
        there = [name for name in run.samples if shares.get((name, score_id))]
        if not there:
            lost.append(f"no sample has pixels of '{tag}' ({regions[tag]})")
            continue
        part = replace(run, protocol=protocol, results=measured, samples=tuple(there))
        rows = stratum_rows(part, {tag: tuple(there)})
        values = {row.label: row.values[score_id] for row in rows}
        whole = sum(shares.get((name, "all"), 0) for name in run.samples)
        mine = sum(shares[name, score_id] for name in there)
        share = mine / whole if whole else math.nan
        found.append(Stratum(PIXELS, tag, len(there), share, values))
    return found, lost


def _with_regions(
    protocol: Protocol, score: str, regions: Mapping[str, str]
) -> tuple[Protocol, dict[str, str], list[str]]:
    """A protocol that differs in its regions only, the score id of each tag, and what is wrong."""
    if protocol.twin is not None:
        raise Misuse("a twin scores its own regions only; tag samples, or use another benchmark.")
    spec = next(each for each in protocol.specs if each.id == score)
    params = {name: spec.params[name] for name in spec.metric.params}
    ids, lost = {}, []
    texts = dict(protocol.regions)
    block = {"metric": spec.metric.name, **params, "name": "score"}
    for number, (tag, text) in enumerate(regions.items()):
        name = f"tag_{number}"
        try:
            body = {"regions": {**texts, name: text}, "scores": [{**block, "region": name}]}
            protocol.model_copy(update=body)
        except DepthgaugeError as error:
            lost.append(f"'{tag}' ({text}) cannot be computed: {error}")
            continue
        texts[name], ids[tag] = text, f"score@{name}"
    wanted = ["all", *(score_id.partition("@")[2] for score_id in ids.values())]
    made = protocol.model_copy(
        update={"regions": texts, "scores": [{**block, "region": wanted}], "axes": {}, "hidden": {}}
    )
    return made, ids, lost


def _measured(
    run: Run, protocol: Protocol, data: Path | None, progress: Progress | None
) -> tuple[dict[Key, Any], dict[tuple[str, str], int]]:
    """Results under another protocol, and the pixels of each sample and score id."""
    maps = RunMaps(run, data)
    samples = [maps.sample(name) for name in run.samples]
    judge = Judge(Rules.of(protocol, samples), with_hashes=False, with_notes=False)
    outcomes: dict[Key, dict[str, Outcome]] = {}
    pixels: dict[tuple[str, str], int] = {}
    for done, sample in enumerate(samples, start=1):
        for entrant in run.entrants:
            key = (entrant.label, entrant.seeds[0])
            if sample.id in run.results[key].failed:
                found = judge.score_none(sample, "failed")
            else:
                found = judge.score_map(sample, partial(maps.estimate, entrant, sample.id))
            outcomes.setdefault(key, {})[sample.id] = found
            for score_id, score in found.scores.items():
                place = "all" if score_id == "score@all" else score_id
                pixels[sample.id, place] = score.count + score.missing
        if progress is not None:
            progress(sample.id, done, len(samples))
    return {key: gather(protocol, found, run.scenes) for key, found in outcomes.items()}, pixels


def hardest(table: StrataTable) -> Iterator[tuple[str, Stratum]]:
    """For each method, the stratum in which it is worst, if that has a value."""
    for label in table.labels:
        known = [s for s in table.strata if math.isfinite(s.values[label].value)]
        if known:
            sign = -1.0 if table.better == "higher" else 1.0
            yield label, max(known, key=lambda s: sign * s.values[label].value)
