"""The schema of a benchmark: strict, all mistakes at once, with a hash of all that counts."""

from __future__ import annotations

import hashlib
import itertools
import json
import tomllib
from collections.abc import Iterable, Iterator
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from depthgauge._registry import nearest
from depthgauge.benchmarks.score_ids import ScoreSpec, file_name, make_spec
from depthgauge.errors import BadFile, BadProtocol, DepthgaugeError, Problem
from depthgauge.geometry import alignment, filling, resizing
from depthgauge.metrics import METRICS
from depthgauge.regions import expressions, resolve
from depthgauge.units import QUANTITY_UNITS

Number = float | int


NO_DATASET = "none"
"""The dataset of a protocol that came with two maps."""


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Align(_Strict):
    """How an estimate is brought to the truth before it is scored."""

    kind: Literal["none", "median", "scale", "scale_shift"] = "none"
    space: Literal["depth", "disparity"] | None = None
    """In which space the fit is made; the quantity's own where it is not said."""
    per: Literal["image"] = "image"
    fit_on: str = "all"
    """The region whose pixels are fitted."""


class TruthRange(_Strict):
    """Which truth values are scored at all; the others count as no truth."""

    min_depth_m: float | None = Field(default=None, ge=0)
    max_depth_m: float | None = Field(default=None, gt=0)


class EstimateRange(_Strict):
    """What happens to estimates that lie outside of what can be."""

    clip: tuple[Number, Number] | None = None
    """Values are moved into this range before scoring."""
    range: Literal["inputs", "none"] | tuple[Number, Number] = "inputs"
    """Estimates outside count as missing; `inputs`: the disparity range that methods are given."""


class ScoreBlock(BaseModel):
    """Scores of one metric: lists of parameters and regions are multiplied out."""

    model_config = ConfigDict(extra="allow", frozen=True)

    metric: str
    region: str | tuple[str, ...] = "all"
    name: str = ""
    """An id of its own in place of `metric:params`."""

    def specs(self) -> Iterator[ScoreSpec]:
        """One spec for each combination, regions innermost."""
        params: dict[str, Any] = dict(self.__pydantic_extra__ or {})
        lists = [value if isinstance(value, list) else [value] for value in params.values()]
        regions = (self.region,) if isinstance(self.region, str) else self.region
        for values in itertools.product(*lists):
            for region in regions:
                chosen = dict(zip(params, values, strict=True))
                yield make_spec(self.metric, chosen, region, self.name)


class Protocol(_Strict):
    """Everything that decides what a number means."""

    id: str = Field(pattern=r"^[a-z0-9][a-z0-9-]*$")
    version: int = Field(ge=1)
    title: str = ""
    about: str = ""
    dataset: str
    split: str = "all"
    quantity: str
    truth_scale: float = 1
    estimate_resize: Literal["none", "nearest", "block", "bilinear", "zoom"] = "none"
    crop: int = Field(default=0, ge=0)
    missing: Literal["bad", "skip", "interpolate", "good"] = "bad"
    interpolate: Literal["background", "scanline", "constant"] | None = None
    interpolate_constant: float | None = None
    pool: Literal["pixel", "image", "scene"]
    align: Align = Align()
    truth: TruthRange = TruthRange()
    estimate: EstimateRange = EstimateRange()
    regions: dict[str, str] = {}
    scores: tuple[ScoreBlock, ...] = ()
    given_regions: tuple[str, ...] = ()
    """Regions that come as masks with the call, not from the dataset."""
    twin: str | None = None
    """The public evaluator whose own numbers this benchmark gives."""
    options: dict[str, Any] = {}
    """The twin's quirks, by name."""

    @cached_property
    def specs(self) -> tuple[ScoreSpec, ...]:
        """Every number of this benchmark, in the file's order."""
        return tuple(spec for block in self.scores for spec in block.specs())

    @property
    def score_ids(self) -> tuple[str, ...]:
        """The ids of all its numbers, the twin's own where it is one."""
        if self.twin is None:
            return tuple(spec.id for spec in self.specs)
        from depthgauge.benchmarks.twins import TWINS

        return TWINS[self.twin].score_ids(TWINS[self.twin].options(self.options))

    @cached_property
    def region_texts(self) -> dict[str, str]:
        """What has to be computed for a sample: region names with their expressions."""
        names = dict.fromkeys([spec.region for spec in self.specs])
        if self.align.kind != "none":
            names[self.align.fit_on] = None
        return {name: self.regions.get(name, name) for name in names}

    def resolved(self) -> dict[str, Any]:
        """The canonical form that is hashed: defaults filled in, revisions added, no prose."""
        body = self.model_dump(mode="json", exclude={"title", "about", "scores", "options"})
        body["dataset_revision"] = _dataset_revision(self.dataset)
        if self.twin is not None:
            from depthgauge.benchmarks.twins import TWINS

            twin = TWINS[self.twin]
            return body | {"options": twin.options(self.options), "revision": twin.REVISION}
        given = set(self.given_regions)
        body["scores"] = [
            {
                "id": spec.id,
                "metric": spec.metric.name,
                "revision": spec.metric.revision,
                "params": dict(spec.params),
                "region": spec.region,
            }
            for spec in self.specs
        ]
        texts = {n: t for n, t in self.region_texts.items() if n not in given}
        named = {**self.regions, **texts}
        body["region_revisions"] = resolve.revisions(named)
        if self.align.kind != "none":
            body["align"]["revision"] = alignment.REVISION
        if self.estimate_resize != "none" or self.truth_scale != 1:
            body["resize_revision"] = resizing.REVISION
        if self.missing == "interpolate":
            body["interpolate_revision"] = filling.REVISION
        return body

    @cached_property
    def hash(self) -> str:
        """SHA-256 of the canonical form: two numbers compare only when it agrees."""
        return hash_json(self.resolved())


def _dataset_revision(name: str) -> int:
    from depthgauge.datasets import DATASETS

    return DATASETS[name].revision if name != NO_DATASET else 0


def hash_json(value: Any) -> str:
    """SHA-256 of the canonical JSON of a value.

    >>> hash_json({"b": 1, "a": 2.0}) == hash_json({"a": 2, "b": 1.0})
    True
    """
    text = json.dumps(_canonical(value), sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


def _canonical(value: Any) -> Any:
    """2.0 and 2 are one number, a tuple and a list one list."""
    if isinstance(value, dict):
        return {str(key): _canonical(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_canonical(item) for item in value]
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value


def load_protocol(path: Path) -> Protocol:
    """Reads a benchmark file; every mistake in it is reported at once."""
    try:
        raw = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise BadFile(f"{path}: cannot be read ({error.strerror}).") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadFile(f"{path}: is not TOML ({error}).") from error
    return make_protocol(raw, str(path))


def make_protocol(raw: dict[str, Any], source: str) -> Protocol:
    """A checked protocol from plain data."""
    try:
        protocol = Protocol.model_validate(raw)
    except ValidationError as error:
        problems = [_problem(found) for found in error.errors()]
        problems += [p for p in _raw_problems(raw) if p.where not in {q.where for q in problems}]
        raise BadProtocol(source, problems) from None
    problems = list(check_protocol(protocol))
    if problems:
        raise BadProtocol(source, problems)
    return protocol


def check_protocol(protocol: Protocol) -> Iterator[Problem]:
    """What the schema alone cannot see: names, pools, regions, collisions."""
    yield from _check_words(protocol)
    if protocol.twin is not None:
        yield from _check_twin(protocol)
        return
    if protocol.missing == "good":
        yield Problem("missing", "'good' is for twins only", "use 'bad'")
    if not protocol.scores:
        yield Problem("scores", "there is none", "add a [[scores]] block")
    fine = True
    for index, block in enumerate(protocol.scores):
        for problem in _check_block(protocol, block, f"scores[{index}]"):
            fine = False
            yield problem
    if fine:
        yield from _check_ids(protocol)
    yield from _check_regions(protocol)


def _check_words(protocol: Protocol) -> Iterator[Problem]:
    if protocol.quantity not in QUANTITY_UNITS:
        yield Problem(
            "quantity",
            f"there is no quantity '{protocol.quantity}'",
            nearest(protocol.quantity, QUANTITY_UNITS) or f"known: {', '.join(QUANTITY_UNITS)}",
        )
    yield from _check_dataset(protocol)
    if protocol.truth_scale not in (1, 0.5, 0.25):
        yield Problem("truth_scale", f"is {protocol.truth_scale:g}", "use 1, 0.5 or 0.25")
    if (protocol.missing == "interpolate") != (protocol.interpolate is not None):
        yield Problem("interpolate", 'goes with missing = "interpolate", which must say how')
    if (protocol.interpolate == "constant") != (protocol.interpolate_constant is not None):
        yield Problem("interpolate_constant", 'goes with interpolate = "constant"')


def _check_dataset(protocol: Protocol) -> Iterator[Problem]:
    from depthgauge.datasets import DATASETS

    name, split = protocol.dataset, protocol.split
    if name == NO_DATASET:
        return
    if name not in DATASETS:
        yield Problem("dataset", f"there is no dataset '{name}'", nearest(name, DATASETS))
    elif (splits := DATASETS[name].spec.splits) and split not in splits:
        hint = nearest(split, splits) or f"it has {', '.join(splits)}"
        yield Problem("split", f"{name} has no split '{split}'", hint)


def _check_twin(protocol: Protocol) -> Iterator[Problem]:
    from depthgauge.benchmarks.twins import TWINS

    try:
        TWINS[str(protocol.twin)].options(protocol.options)
    except DepthgaugeError as error:
        yield Problem("twin", str(error))


def _check_block(protocol: Protocol, block: ScoreBlock, where: str) -> Iterator[Problem]:
    if block.metric not in METRICS:
        hint = nearest(block.metric, METRICS)
        yield Problem(f"{where}.metric", f"there is no metric '{block.metric}'", hint)
        return
    metric = METRICS[block.metric]
    for key in block.__pydantic_extra__ or {}:
        if key not in metric.params:
            known = [*metric.params, "metric", "region", "name"]
            yield Problem(f"{where}.{key}", f"{metric.name} has no '{key}'", nearest(key, known))
            return
    if protocol.pool not in metric.pools:
        allowed = ", ".join(metric.pools)
        yield Problem("pool", f"{metric.name} cannot be pooled by '{protocol.pool}'", allowed)
    if protocol.quantity not in metric.of:
        of = ", ".join(metric.of)
        yield Problem(f"{where}.metric", f"{metric.name} scores {of}, not {protocol.quantity}")
    try:
        list(block.specs())
    except DepthgaugeError as error:
        yield Problem(where, str(error))


def _check_ids(protocol: Protocol) -> Iterator[Problem]:
    seen: dict[str, str] = {}
    for spec in protocol.specs:
        key = file_name(spec.id)
        if seen.get(key) == spec.id:
            yield Problem("scores", f"'{spec.id}' is there twice")
        elif key in seen:
            yield Problem("scores", f"'{spec.id}' and '{seen[key]}' would share one file name")
        seen[key] = spec.id


def _check_regions(protocol: Protocol) -> Iterator[Problem]:
    texts = {f"regions.{name}": text for name, text in protocol.regions.items()}
    texts["align.fit_on"] = protocol.align.fit_on
    for index, block in enumerate(protocol.scores):
        names = (block.region,) if isinstance(block.region, str) else block.region
        texts |= {f"scores[{index}].region[{i}]": name for i, name in enumerate(names)}
    for where, text in texts.items():
        try:
            expressions.parse(text)
        except DepthgaugeError as error:
            yield Problem(where, str(error))


def _raw_problems(raw: dict[str, Any]) -> Iterable[Problem]:
    """Semantic mistakes in a file that does not even fit the schema, as far as they show."""
    for index, block in enumerate(raw.get("scores", [])):
        name = block.get("metric") if isinstance(block, dict) else None
        if isinstance(name, str) and name not in METRICS:
            where = f"scores[{index}].metric"
            yield Problem(where, f"there is no metric '{name}'", nearest(name, METRICS))


def _problem(found: Any) -> Problem:
    where = ""
    for part in found["loc"]:
        where += f"[{part}]" if isinstance(part, int) else f".{part}" if where else str(part)
    if found["type"] == "extra_forbidden":
        return Problem(where, "is not a key", nearest(str(found["loc"][-1]), _known(found["loc"])))
    return Problem(where, found["msg"].lower())


def _known(loc: tuple[Any, ...]) -> list[str]:
    tables: dict[str, type[BaseModel]] = {
        "align": Align,
        "truth": TruthRange,
        "estimate": EstimateRange,
    }
    table = tables.get(str(loc[0]), Protocol) if len(loc) > 1 else Protocol
    return list(table.model_fields)
