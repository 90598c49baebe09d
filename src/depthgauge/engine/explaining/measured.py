"""Every score of some samples under many settings; each truth and estimate is read once.

A setting is what happens to maps before they are measured: resizing, crop, alignment, filling. All
metrics, thresholds and regions of a setting come out of one pass; what a missing pixel costs and
how samples are pooled is decided afterwards, from the states.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Any

from depthgauge._canonical import to_json
from depthgauge._progress import Progress
from depthgauge.benchmarks import Protocol
from depthgauge.engine.explaining.source import Found, Source
from depthgauge.engine.scoring.in_memory.maps_protocol import maps_protocol
from depthgauge.engine.scoring.measure import measure
from depthgauge.engine.scoring.prepare import PreparedTruth, prepare, prepare_truth
from depthgauge.engine.scoring.rules import Rules
from depthgauge.engine.scoring.truth_maps import truth_map
from depthgauge.errors import DepthgaugeError, NothingScored
from depthgauge.types import Inputs, Sample, Score, Truth, is_known, overlaid

_TRUTH_KEYS = ("truth_scale", "truth", "crop")
"""What a setting says about the truth's side; settings that agree in it share its regions."""
_FILLINGS = ("interpolate", "interpolate_constant")


@dataclass(frozen=True)
class Setting:
    """Keys of a benchmark that decide what is compared, beside what the maps themselves say."""

    name: str
    """In words; empty: the maps as they are."""
    keys: Mapping[str, Any] = field(default_factory=dict)

    @property
    def fills(self) -> bool:
        """Whether missing pixels are filled before they are measured."""
        return "interpolate" in self.keys


@dataclass(frozen=True)
class SettingScores:
    """The scores of one method's samples under every setting."""

    protocols: tuple[Protocol, ...]
    """One for each setting, all with the same scores."""
    scores: tuple[Mapping[str, Mapping[str, Score]], ...]
    """For each setting: by sample and score id, as if missing pixels were bad."""
    failed: Mapping[int, str]
    """Settings that cannot be used here, and why."""
    missing: int
    """Truth pixels without an estimate."""
    scenes: Mapping[str, str]


def measure_settings(
    source: Source,
    ids: Sequence[str],
    settings: Sequence[Setting],
    progress: Progress | None = None,
) -> dict[str, SettingScores]:
    """The scores of every method.

    Args:
        source: Samples and estimates.
        ids: Score ids with their regions, `badpix:2@visible`.
        settings: What is done to the maps.
        progress: Called after each sample.

    Raises:
        NothingScored: No setting could be used, for the reason that is named.
    """
    protocols = [protocol_of(source, ids, setting) for setting in settings]
    declared = Rules.of(protocols[0], source.samples).declared
    found = {label: _Collected(protocols) for label in source.methods}
    for done, sample in enumerate(source.samples, start=1):
        held = _held(sample)
        ready = cache(partial(_ready, protocols, held, declared))
        places = [_first_with_same_truth(settings, n) for n in range(len(settings))]
        for label, find in source.methods.items():
            found[label].add(held, find(held), settings, places, ready)
        if progress is not None:
            progress(sample.id, done, len(source.samples))
    scenes = {sample.id: sample.scene for sample in source.samples}
    return {label: each.finished(scenes, label) for label, each in found.items()}


def protocol_of(source: Source, ids: Sequence[str], setting: Setting) -> Protocol:
    """The protocol of a setting, with all scores."""
    keys = dict(setting.keys)
    if setting.fills:
        keys["missing"] = "interpolate"
    return maps_protocol(ids, source.quantity, dataset=source.dataset, split=source.split, **keys)


class _Collected:
    """The scores of one method, sample by sample."""

    def __init__(self, protocols: Sequence[Protocol]) -> None:
        self.protocols = tuple(protocols)
        self.scores: list[dict[str, dict[str, Score]]] = [{} for _ in protocols]
        self.failed: dict[int, str] = {}
        self.missing = 0

    def add(
        self,
        sample: Sample,
        estimate: Found,
        settings: Sequence[Setting],
        places: Sequence[int],
        ready: Any,
    ) -> None:
        """Scores one sample under every setting that was possible so far."""
        plain: dict[str, dict[str, Score]] = {}
        for n, (setting, protocol) in enumerate(zip(settings, self.protocols, strict=True)):
            if n in self.failed:
                continue
            key = _without_filling(setting)
            try:
                truth = ready(places[n])
                if setting.fills and key in plain and _has_all(plain[key]):
                    self.scores[n][sample.id] = plain[key]  # there is nothing to fill
                    continue
                maps = prepare(protocol, estimate, truth)
                found = measure(maps, protocol.specs, protocol.quantity, "bad", "image")
            except DepthgaugeError as error:
                self.failed[n] = str(error)
                continue
            self.scores[n][sample.id] = found
            plain.setdefault(key, found)
            if n == 0:
                self.missing += int((is_known(truth.truth) & ~is_known(maps.allowed)).sum())

    def finished(self, scenes: Mapping[str, str], label: str) -> SettingScores:
        """What was collected; at least one setting must have worked."""
        if len(self.failed) == len(self.protocols):
            raise NothingScored(f"{label}: no protocol can be tried: {self.failed[0]}")
        return SettingScores(
            self.protocols, tuple(self.scores), dict(self.failed), self.missing, scenes
        )


def _ready(
    protocols: Sequence[Protocol], sample: Sample, declared: frozenset[str], place: int
) -> PreparedTruth:
    protocol, truth = protocols[place], sample.truth or Truth({})
    items = overlaid(truth, sample.inputs)
    plain = truth_map(protocol, truth, items)
    return prepare_truth(protocol, plain, items, declared=declared)


def _held(sample: Sample) -> Sample:
    """The same sample, whose items are read once and live as long as it."""
    truth = Truth(dict(_once(sample.truth or {})))
    return Sample(sample.id, Inputs(dict(_once(sample.inputs))), truth, sample.scene)


def _once(items: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    fresh = items.fresh() if isinstance(items, (Truth, Inputs)) else items
    for name in fresh:
        yield name, cache(partial(fresh.__getitem__, name))


def _first_with_same_truth(settings: Sequence[Setting], n: int) -> int:
    def key(setting: Setting) -> str:
        kept = {k: v for k, v in setting.keys.items() if k in _TRUTH_KEYS}
        # The allowed range of estimates is part of the truth's side.
        return to_json({**kept, "estimate": setting.keys.get("estimate")})

    return next(k for k in range(n + 1) if key(settings[k]) == key(settings[n]))


def _without_filling(setting: Setting) -> str:
    return to_json({k: v for k, v in setting.keys.items() if k not in _FILLINGS})


def _has_all(scores: Mapping[str, Score]) -> bool:
    """Whether no pixel with truth lacks an estimate."""
    return not any(score.missing for score in scores.values())
