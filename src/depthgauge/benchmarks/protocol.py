"""A protocol: a checked benchmark with a hash of everything that can move a number."""

from __future__ import annotations

import copy
import json
import math
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from depthgauge._canonical import hash_json, to_json
from depthgauge._once import cached_property
from depthgauge._registry import nearest
from depthgauge.benchmarks._checks import check, check_file
from depthgauge.benchmarks._messages import schema_problems, shown, without_misfits
from depthgauge.benchmarks._named_regions import names_used
from depthgauge.benchmarks._places import benchmark_paths
from depthgauge.benchmarks.bins import Bins, keys_with_bins
from depthgauge.benchmarks.schema import (
    NO_DATASET,
    NOT_OF_TWINS,
    Align,
    BenchmarkFile,
    EstimateRange,
    ScoreBlock,
    TruthRange,
)
from depthgauge.errors import BadProtocol, Misuse, Problem
from depthgauge.geometry import alignment, cardboard, crops, filling, resizing, rigs
from depthgauge.io.text import read_toml
from depthgauge.metrics import METRICS
from depthgauge.quantities import QUANTITIES
from depthgauge.regions import resolve

__all__ = [
    "NO_DATASET",
    "RULES_REVISION",
    "Align",
    "EstimateRange",
    "Protocol",
    "ScoreBlock",
    "TruthRange",
    "hash_json",
    "load_protocol",
    "make_protocol",
]

RULES_REVISION = 1
"""Raised whenever the engine's own rules (truth limits, ranges, clipping, filling order, pooling)
may move a number; part of the hash."""

_PROSE = {"title", "about", "truth_accuracy", "axes", "may_have", "reading", "hidden"}
"""Keys that are not hashed. The hash of a truth's values covers how it was read."""
_UNUSED: dict[str, Any] = {
    "interpolate": None,
    "interpolate_constant": None,
    "resize_values": "scaled",
    "perturb": "",
    "dataset_options": {},
    "tiers": {},
    "truth_size": None,
}
_EXTENDS = "extends"
_NOT_TAKEN_OVER = ("id", "version", "title")
"""Keys that a benchmark never takes from the one that it extends."""
_FOCAL = "estimate_focal_px"
_Checker = Callable[[BenchmarkFile, Collection[str]], list[Problem]]


class Protocol(BenchmarkFile):
    """Everything that decides what a number means."""

    def resolved(self) -> dict[str, Any]:
        """The canonical form that is hashed: all that can move a number, and nothing else."""
        form: dict[str, Any] = json.loads(self._canonical_json)
        return form

    @cached_property
    def hash(self) -> str:
        """SHA-256 of the canonical form: two numbers are comparable only if it is the same."""
        return hash_json(self.resolved())

    @cached_property
    def _canonical_json(self) -> str:
        # Made once as text, so that later changes to `regions` or `options` do not affect it.
        return to_json(self._twin_form() if self.twin is not None else self._form())

    def model_copy(
        self, *, update: Mapping[str, Any] | None = None, deep: bool = False
    ) -> Protocol:
        """A changed copy, which is checked and has its own hash."""
        body = {**self.model_dump(exclude_unset=True), **(update or {})}
        return make_protocol(body, f"a copy of {self.id}")

    def with_settings(
        self, *, thresholds: int | None = None, focal_px: float | None = None
    ) -> Protocol:
        """A copy with another number of thresholds, or a focal length for estimates without one.

        Raises:
            Misuse: No score of this benchmark has that setting.
        """
        update = _changed_keys(self, thresholds, focal_px)
        return self.model_copy(update=update) if update else self

    def with_bins(self, bins: Mapping[str, Bins]) -> Protocol:
        """A copy whose families of numbered regions have as many bins as the data has.

        Args:
            bins: By the name of the labels that hold them.
        """
        update = keys_with_bins(self, bins)
        return self.model_copy(update=update) if update else self

    def _twin_form(self) -> dict[str, Any]:
        from depthgauge.benchmarks.twins import TWINS

        twin = TWINS[str(self.twin)]
        # The twin itself decides what a missing pixel costs and how sizes are matched.
        body = self._body({*NOT_OF_TWINS, "options", "missing", "estimate_resize"})
        self._add_perturbation(body)
        return {**body, "options": twin.options(self.options), "revision": twin.revision}

    def _form(self) -> dict[str, Any]:
        body = self._body({"twin", "options", "scores", "regions", "align", "derived"})
        self._add_perturbation(body)
        body["given_regions"] = sorted(self.given_regions)
        body["scores"] = [
            {
                "id": spec.id,
                "metric": spec.metric.name,
                "revision": spec.metric.revision,
                "params": {k: "inf" if v == math.inf else v for k, v in spec.params.items()},
                "region": spec.region,
                **({"resolution": spec.resolution} if spec.resolution else {}),
                **({"part": spec.part} if spec.part else {}),
            }
            for spec in sorted(self.specs, key=lambda spec: spec.id)
        ]
        body["align"], fitted = self._align_form()
        texts = {name: self._text(name) for name in {spec.region for spec in self.specs}}
        texts = {name: text for name, text in texts.items() if name not in self.given_regions}
        for text in [*texts.values(), *fitted]:
            texts |= {name: self.regions[name] for name in names_used(text, self.regions)}
        body["regions"] = {name: resolve.defaults(text) for name, text in texts.items()}
        body["region_revisions"] = {
            region: revision
            for text in [*texts.values(), *fitted]
            for region, revision in resolve.revisions({text: text}).items()
        }
        used = [name for spec in self.specs for name in spec.metric.needs]
        if made := resolve.things_used(
            {t: t for t in [*texts.values(), *fitted]}, used, self.derived
        ):
            body["derived"] = made
            body["derived_revisions"] = resolve.makers_revisions(made)
        if self.estimate_resize != "none" or self.truth_scale != 1 or self.border:
            body["resize_revision"] = resizing.REVISION
        if self.missing == "interpolate":
            body["interpolate_revision"] = filling.REVISION
        return body

    def _body(self, elsewhere: set[str]) -> dict[str, Any]:
        """The plain keys, without those that are not used."""
        body = self.model_dump(mode="json", exclude=_PROSE | elsewhere)
        # Unused keys are left out, so a new key does not change hashes of benchmarks without it.
        for key, unused in _UNUSED.items():
            if body.get(key) == unused:
                body.pop(key, None)
        if self.estimate_resize == "none":
            body.pop("resize_values", None)
        if isinstance(self.crop, str) and "crop" in body:
            text = str(self.border.share) if self.box is None else self.box.text
            body |= {"crop": text, "crop_revision": crops.REVISION}
        self._add_made_truth(body)
        if self.estimate.focal_px is None and "estimate" in body:
            body["estimate"].pop("focal_px")
        if not self.estimate.repeat_layer and "estimate" in body:
            body["estimate"].pop("repeat_layer")
        if not self.estimate.inverse and "estimate" in body:
            body["estimate"].pop("inverse")
        body["dataset_revision"] = _dataset_revision(self.dataset)
        if (revision := QUANTITIES[self.quantity].revision) != 1:
            body["quantity_revision"] = revision
        body["rules_revision"] = RULES_REVISION
        return body

    def _add_made_truth(self, body: dict[str, Any]) -> None:
        """What makes a truth that is not stored, where something does."""
        if self.truth.cardboard:
            body["cardboard_revision"] = cardboard.REVISION
        elif "truth" in body:
            body["truth"].pop("cardboard")
        if self.truth.layer == "all" and "truth" in body:
            body["truth"].pop("layer")
        if self.truth.limits == "closed" and "truth" in body:
            body["truth"].pop("limits")
        if self.truth.from_depth:
            body["surface_normals_revision"] = rigs.REVISION
        elif "truth" in body:
            body["truth"].pop("from_depth")

    def _add_perturbation(self, body: dict[str, Any]) -> None:
        if self.perturb:
            from depthgauge.perturbations import parse_perturbation

            body.pop("perturb", None)
            found = parse_perturbation(self.perturb).without_neutral()
            if found.parts:
                body["perturb"] = str(found)
                body["perturb_revisions"] = dict(found.revisions)

    def _align_form(self) -> tuple[dict[str, Any], list[str]]:
        """The alignment, and the text of the region that it is fitted on, if there is one."""
        if self.align.kind == "none":
            return {"kind": "none"}, []
        form = self.align.model_dump(mode="json")
        own = "disparity" if self.estimate.inverse else QUANTITIES[self.quantity].own_space
        form["space"] = self.align.space or own
        form["revision"] = alignment.REVISION
        if self.align.fit_on in self.given_regions:
            return form, []
        text = self._text(self.align.fit_on)
        return {**form, "fit_on": resolve.defaults(text)}, [text]

    def _text(self, region: str) -> str:
        return self.regions.get(region, region)


def _dataset_revision(name: str) -> int:
    from depthgauge.datasets import DATASETS

    return DATASETS[name].revision if name != NO_DATASET else 0


def load_protocol(path: Path) -> Protocol:
    """Reads a benchmark file; every mistake in it is reported at once."""
    return _make(read_benchmark(path), str(path), check, check_file)


def make_protocol(raw: dict[str, Any], source: str) -> Protocol:
    """A checked protocol from plain data."""
    return _make(raw, source, check)


def _make(raw: Mapping[str, Any], source: str, *checkers: _Checker) -> Protocol:
    raw = copy.deepcopy(dict(raw))
    try:
        made: BenchmarkFile = Protocol.model_validate(raw)
    except ValidationError as error:
        problems = schema_problems(raw, error)
        made, broken = without_misfits(raw, error)
    else:
        problems, broken = [], set()
    known = [problem.where for problem in problems]
    for checker in checkers:
        problems += [p for p in checker(made, broken) if not _within(p.where, known)]
    if problems or not isinstance(made, Protocol):
        raise BadProtocol(source, problems)
    made.hash  # noqa: B018  # now, before anybody can change what it is made of
    return made


def _within(where: str, known: list[str]) -> bool:
    """Whether a problem is already known at that place or at one that contains it."""
    return any(where == k or where.startswith((f"{k}.", f"{k}[")) for k in known)


# Benchmarks that extend others: `extends = "booster-balanced"`.


def read_benchmark(path: Path) -> dict[str, Any]:
    """The keys of a benchmark file, completed with those of the benchmark that it extends.

    A key of the file replaces the whole key of the other: tables and lists are not merged. The
    other is the file of that name in the same folder, or a registered benchmark, and may itself
    extend a third.

    Raises:
        BadFile: A file cannot be read or is not TOML.
        BadProtocol: There is no such benchmark, or the files extend each other in a circle.
    """
    chain = [path.resolve()]
    raw = read_toml(path)
    found = dict(raw)
    while _EXTENDS in raw:
        base = _extended_file(path, chain[-1].parent, raw[_EXTENDS])
        if base in chain:
            names = " > ".join(file.stem for file in [*chain, base])
            raise BadProtocol(str(path), [Problem(_EXTENDS, f"leads back to itself: {names}")])
        chain.append(base)
        raw = read_toml(base)
        found = {**{k: v for k, v in raw.items() if k not in _NOT_TAKEN_OVER}, **found}
    found.pop(_EXTENDS, None)
    return found


def _extended_file(path: Path, folder: Path, name: Any) -> Path:
    if not isinstance(name, str):
        what = f"is {shown(name)} but must be the id of a benchmark"
        raise BadProtocol(str(path), [Problem(_EXTENDS, what)])
    beside = folder / f"{name}.toml"
    if "/" not in name and beside.is_file():
        return beside.resolve()
    known = benchmark_paths()
    if name not in known:
        hint = nearest(name, known) or f"known: {', '.join(known)}"
        raise BadProtocol(
            str(path), [Problem(_EXTENDS, f"there is no benchmark {shown(name)}", hint)]
        )
    return known[name]


# What a call may change in a benchmark: the number of thresholds, and a focal length.


def _changed_keys(
    benchmark: BenchmarkFile, thresholds: int | None, focal_px: float | None
) -> dict[str, Any]:
    """The keys of a benchmark that these settings change; the result has its own hash.

    Raises:
        Misuse: No score of this benchmark has that setting.
    """
    asked: dict[str, Any] = {"thresholds": thresholds, "focal_px": focal_px}
    given = {name: value for name, value in asked.items() if value is not None}
    if benchmark.twin is not None:
        return _changed_options(benchmark, given)
    found: dict[str, Any] = {}
    if "thresholds" in given:
        found["scores"] = _changed_scores(benchmark, given["thresholds"])
    if "focal_px" in given:
        if not any(_FOCAL in spec.metric.needs for spec in benchmark.specs):
            raise Misuse(f"{benchmark.id} scores nothing that needs a focal length; leave it out.")
        said = benchmark.estimate.model_dump(exclude_unset=True)
        found["estimate"] = {**said, "focal_px": given["focal_px"]}
    return found


def _changed_options(benchmark: BenchmarkFile, given: dict[str, Any]) -> dict[str, Any]:
    from depthgauge.benchmarks.twins import TWINS

    known = TWINS[str(benchmark.twin)].options(benchmark.options)
    for name in given:
        if name not in known:
            raise Misuse(f"{benchmark.id} has no setting {name}; leave it out.")
    return {"options": {**benchmark.options, **given}} if given else {}


def _changed_scores(benchmark: BenchmarkFile, thresholds: int) -> list[dict[str, Any]]:
    blocks = [block.model_dump(exclude_unset=True) for block in benchmark.scores]
    having = [block for block in blocks if "thresholds" in METRICS[block["metric"]].params]
    if not having:
        raise Misuse(f"{benchmark.id} scores nothing at several thresholds; leave them out.")
    for block in having:
        # The ids do not change: the hash shows that it is another protocol.
        block.setdefault("name", block["metric"])
        block["thresholds"] = thresholds
    return blocks
