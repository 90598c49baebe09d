"""What a benchmark file may say: its keys, their types and their defaults."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from functools import cached_property
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from depthgauge.benchmarks.score_ids import ScoreSpec, make_spec

NO_DATASET = "none"
"""The dataset of a protocol that came with two maps."""

Number = Annotated[float, Field(strict=True, allow_inf_nan=False)]
"""A finite number: no text, no true or false."""
Whole = Annotated[int, Field(strict=True)]


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

    min_depth_m: Number | None = Field(default=None, ge=0)
    max_depth_m: Number | None = Field(default=None, gt=0)


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

    @property
    def params(self) -> dict[str, list[Any]]:
        """The metric's parameters as the file gives them, each as a list."""
        given = self.__pydantic_extra__ or {}
        return {k: list(v) if isinstance(v, (list, tuple)) else [v] for k, v in given.items()}

    def specs(self) -> Iterator[ScoreSpec]:
        """One spec for each combination, regions innermost."""
        params = self.params
        regions = (self.region,) if isinstance(self.region, str) else self.region
        for values in itertools.product(*params.values()):
            for region in regions:
                chosen = dict(zip(params, values, strict=True))
                yield make_spec(self.metric, chosen, region, self.name)


class BenchmarkFile(_Strict):
    """The keys of a benchmark; `Protocol` adds the hash, `_checks` what a schema cannot see."""

    id: str = Field(pattern=r"^[a-z0-9][a-z0-9-]*$")
    version: Whole = Field(ge=1)
    title: str = ""
    about: str = ""
    dataset: str
    split: str = "all"
    quantity: str
    truth_scale: Number = 1
    estimate_resize: Literal["none", "nearest", "block", "bilinear", "zoom"] = "none"
    crop: Whole = Field(default=0, ge=0)
    missing: Literal["bad", "skip", "interpolate", "good"] = "bad"
    interpolate: Literal["background", "scanline", "constant"] | None = None
    interpolate_constant: Number | None = None
    pool: Literal["pixel", "image", "scene"]
    align: Align = Align()
    truth: TruthRange = TruthRange()
    truth_accuracy: Number | None = Field(default=None, gt=0)
    """How far the truth may be off, in the quantity's unit: smaller differences are ties."""
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

    @property
    def main_score(self) -> str:
        """The id of the score that sorts a leaderboard; the first, unless a twin has its own."""
        first = next(iter(self.score_ids), "")
        if self.twin is None:
            return first
        from depthgauge.benchmarks.twins import TWINS

        return getattr(TWINS[self.twin], "MAIN", first)

    def better(self, score_id: str) -> str:
        """The direction of a score: `lower`, `higher` or `zero`."""
        if self.twin is None:
            return next(spec.metric.better for spec in self.specs if spec.id == score_id)
        from depthgauge.benchmarks.twins import TWINS

        metric = score_id.partition("@")[0].partition(":")[0]
        return "higher" if metric in getattr(TWINS[self.twin], "HIGHER", ()) else "lower"

    @cached_property
    def region_texts(self) -> dict[str, str]:
        """What has to be computed for a sample: region names with their expressions."""
        names = dict.fromkeys([spec.region for spec in self.specs])
        if self.align.kind != "none":
            names[self.align.fit_on] = None
        return {name: self.regions.get(name, name) for name in names}


NOT_OF_TWINS = (
    "truth_scale",
    "crop",
    "interpolate",
    "interpolate_constant",
    "align",
    "truth",
    "estimate",
    "regions",
    "scores",
    "given_regions",
)
"""Keys that decide nothing in a twin, which has its own rules."""
