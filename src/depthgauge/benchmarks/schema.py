"""What a benchmark file may say: its keys, their types and their defaults."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterable, Iterator
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

from depthgauge._once import cached_property
from depthgauge.benchmarks.numbered import expand_all, expand_table
from depthgauge.benchmarks.score_ids import ScoreSpec, make_spec
from depthgauge.errors import Misuse
from depthgauge.geometry.crops import Border, Box, parse_border, parse_crop
from depthgauge.io.reading import Reading, parse_scale
from depthgauge.quantities import QUANTITIES

NO_DATASET = "none"
"""The dataset of a protocol that is made for two maps."""

Number = Annotated[float, Field(strict=True, allow_inf_nan=False)]
"""A finite number: no text, no true or false."""
Whole = Annotated[int, Field(strict=True)]
Pixels = Annotated[int, Field(strict=True, ge=1, le=16384)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, ignored_types=(cached_property,))


class Align(_Strict):
    """How an estimate is aligned to the truth before it is scored."""

    kind: Literal["none", "median", "scale", "scale_shift"] = "none"
    space: Literal["depth", "disparity"] | None = None
    """The space in which the fit is made; by default that of the quantity."""
    per: Literal["image"] = "image"
    fit_on: str = "all"
    """The region whose pixels are fitted."""


class TruthRange(_Strict):
    """Which truth values are scored at all; the others count as no truth."""

    min_depth_m: Number | None = Field(default=None, ge=0)
    max_depth_m: Number | None = Field(default=None, gt=0)
    limits: Literal["closed", "open"] = "closed"
    """Whether a depth of exactly the least or the largest value counts; papers mostly say no."""
    from_depth: bool = Field(default=False, strict=True)
    """Normals are computed from the true depth or disparity; stored normals are not used."""
    layer: Literal["all", "first", "last"] = "all"
    """Of a truth with layers, the one that estimates of a single layer are compared with: the
    first, or the last one that is not transparent."""
    cardboard: str = ""
    """Objects (in `<name>_labels` or `<name>_mask`) without truth get one value each."""


class EstimateRange(_Strict):
    """What happens to estimates outside the possible range."""

    clip: tuple[Number, Number] | None = None
    """Values are clipped to this range before scoring."""
    range: Literal["inputs", "none"] | tuple[Number, Number] = "inputs"
    """Estimates outside count as missing; `inputs`: the disparity range that methods are given."""
    inverse: bool = Field(default=False, strict=True)
    """Estimates of depth are inverse depths, perhaps up to scale and shift: they are aligned to the
    inverse of the truth, and then inverted; what is not positive then is infinitely far."""
    repeat_layer: bool = Field(default=False, strict=True)
    """An estimate of one layer stands for every layer of the truth."""
    focal_px: Number | None = Field(default=None, gt=0)
    """The focal length of depth estimates that have none, in px at the truth's size."""


class SideReading(_Strict):
    """How the stored numbers of estimates, or of truths, become values."""

    scale: Number | str | None = None
    """Value = stored number * scale: `0.001`, or `"1/256"`; as the files say where it is not."""
    invalid: tuple[Number, ...] = ()
    """Stored numbers that mean missing."""

    @field_validator("scale")
    @classmethod
    def _positive(cls, value: float | str | None) -> float | None:
        found: float | None = _or_value_error(parse_scale, value)
        return found

    @property
    def reading(self) -> Reading:
        """The same, as files are read."""
        return Reading(parse_scale(self.scale), self.invalid)


class MapReading(_Strict):
    """What the files do not say about their numbers; recorded with scores, not hashed."""

    estimate: SideReading = SideReading()
    truth: SideReading = SideReading()


class Axis(_Strict):
    """What the numbers of a numbered family of regions mean, for charts."""

    label: str = ""
    unit: str = ""
    values: tuple[Number, ...] = ()
    """One for each number of the family, in order; if empty, the numbers themselves."""
    bins: str = ""
    """The labels of the truth that hold the bins: the family has as many regions as the data has
    bins, whatever the number in this file, and the values are those that the data says."""


class Hidden(_Strict):
    """What a site tells about submissions if it keeps the truth to itself; no part of the hash."""

    scores: tuple[str, ...] = ()
    """The ids of the released scores, of all samples together; empty: the main score."""
    samples: bool = Field(default=False, strict=True)
    """Whether they are released for every sample, too."""
    digits: Whole | None = Field(default=None, ge=1, le=6)
    """Significant digits of what is released; without it, a site rounds so coarsely that a year of
    scores tells little of any map."""
    least_density: Number = Field(default=0.9, gt=0, le=1)
    """The least share of pixels of every sample with an estimate inside the allowed range; sparser
    submissions are refused unscored, because the score of few pixels tells their truth."""


class ScoreBlock(BaseModel):
    """Scores of one metric, one for each combination of parameters and regions in the lists."""

    model_config = ConfigDict(extra="allow", frozen=True)

    metric: str
    region: str | tuple[str, ...] = "all"
    """`bins_{1..15}` stands for fifteen regions."""
    name: str = ""
    """An id that replaces `metric:params`."""
    resolution: str = ""
    """`high`: scored against the truth's items that begin with `high_`, at their size."""
    part: str = ""
    """The part of the quantity that is scored, or `layers:2` for one layer; empty: the main map."""

    @field_validator("region", mode="before")
    @classmethod
    def _numbered(cls, value: Any) -> Any:
        listed = [value] if isinstance(value, str) else value
        if not isinstance(listed, (list, tuple)) or not all(isinstance(v, str) for v in listed):
            return value
        found = _or_value_error(expand_all, listed)
        return value if found == list(listed) else tuple(found)

    @property
    def params(self) -> dict[str, list[Any]]:
        """The metric's parameters as the file gives them, each as a list."""
        given = self.__pydantic_extra__ or {}
        return {k: list(v) if isinstance(v, (list, tuple)) else [v] for k, v in given.items()}

    def specs(self) -> Iterator[ScoreSpec]:
        """One spec for each combination; regions vary fastest."""
        params = self.params
        regions = (self.region,) if isinstance(self.region, str) else self.region
        for values in itertools.product(*params.values()):
            for region in regions:
                chosen = dict(zip(params, values, strict=True))
                yield make_spec(self.metric, chosen, region, self.name, self.resolution, self.part)


def _or_value_error(function: Any, argument: Any) -> Any:
    """Calls a function and turns its errors into ones that pydantic understands."""
    try:
        return function(argument)
    except Misuse as error:
        raise ValueError(str(error)) from None


class BenchmarkFile(_Strict):
    """The keys of a benchmark; `Protocol` adds the hash, `_checks` what a schema cannot check."""

    id: str = Field(pattern=r"^[a-z0-9][a-z0-9-]*$")
    version: Whole = Field(ge=1)
    title: str = ""
    about: str = ""
    dataset: str
    split: str = "all"
    dataset_options: dict[str, Any] = {}
    """Options of the dataset's reader: `reduce = 4`."""
    quantity: str
    truth_scale: Number = 1
    truth_size: tuple[Pixels, Pixels] | None = None
    """Width and height at which pictures are compared, in px: truth, estimate and images are
    brought there as `estimate_resize` says; none: the truth's own."""
    estimate_resize: Literal["none", "nearest", "block", "bilinear", "zoom", "area", "kb"] = "none"
    resize_values: Literal["scaled", "kept"] = "scaled"
    """Whether values in pixels scale with the size; light fields keep those of the images."""
    perturb: str = ""
    """What is done to the images before methods see them: `noise:5`."""
    crop: Annotated[Whole, Field(ge=0)] | Annotated[str, Field(strict=True)] = 0
    """A border that estimates may lack, in px, or as a share of the shorter side: `15/512`; or a
    box that is scored: `garg`, `45:471,41:601`."""
    missing: Literal["bad", "skip", "interpolate", "good"] = "bad"
    interpolate: Literal["background", "scanline", "constant"] | None = None
    interpolate_constant: Number | None = None
    pool: Literal["pixel", "image", "scene", "median"]
    align: Align = Align()
    truth: TruthRange = TruthRange()
    truth_accuracy: Number | None = Field(default=None, gt=0)
    """How far the truth may be off, in the quantity's unit: smaller differences are ties."""
    estimate: EstimateRange = EstimateRange()
    reading: MapReading = MapReading()
    regions: dict[str, str] = {}
    """Names for expressions; `"gap_{1..15}" = "gaps & bins_{1..15}"` names fifteen."""
    may_have: tuple[str, ...] = ()
    """Masks and labels (`boxes_labels`) that only some samples have: if no sample in the data has
    one, what uses it is left out instead of reported as unknown."""
    derived: dict[str, str] = {}
    """Parameters of maps that regions and metrics share: `edges = "edges:0.1"`."""
    hidden: Hidden = Hidden()
    """What a site with hidden truth releases."""
    axes: dict[str, Axis] = {}
    """What numbered regions mean, by the name before the number."""
    scores: tuple[ScoreBlock, ...] = ()
    tiers: dict[str, tuple[str, ...]] = {}
    """What methods of each tier may take, the most first: `G1 = ["left_image", "rig"]`. A method is
    given only what it declares, and is never ranked among those of another tier."""
    given_regions: tuple[str, ...] = ()
    """Regions that come as masks with the call, not from the dataset."""
    twin: str | None = None
    """The public evaluator whose own numbers this benchmark gives."""
    options: dict[str, Any] = {}
    """The twin's quirks, by name."""

    @field_validator("regions", mode="before")
    @classmethod
    def _numbered(cls, value: Any) -> Any:
        plain = isinstance(value, dict) and all(isinstance(v, str) for v in value.values())
        return _or_value_error(expand_table, value) if plain else value

    @field_validator("crop")
    @classmethod
    def _box(cls, value: int | str) -> int | str:
        if isinstance(value, str) and not _or_value_error(parse_border, value):
            _or_value_error(parse_crop, value)
        return value

    @cached_property
    def border(self) -> Border:
        """What is not scored at the border, and may be missing from estimates."""
        found = Border(self.crop) if isinstance(self.crop, int) else parse_border(self.crop)
        return found or Border()

    @cached_property
    def box(self) -> Box | None:
        """The only pixels that are scored; None: all of them."""
        if not isinstance(self.crop, str) or self.border:
            return None
        return parse_crop(self.crop)

    @cached_property
    def specs(self) -> tuple[ScoreSpec, ...]:
        """Every number of this benchmark, in the file's order."""
        return tuple(spec for block in self.scores for spec in block.specs())

    @property
    def score_ids(self) -> tuple[str, ...]:
        """The ids of all its numbers; for a twin, the ids of the public evaluator."""
        if self.twin is None:
            return tuple(spec.id for spec in self.specs)
        from depthgauge.benchmarks.twins import TWINS

        return TWINS[self.twin].score_ids(TWINS[self.twin].options(self.options))

    @property
    def released_scores(self) -> tuple[str, ...]:
        """The ids of the scores that a site with hidden truth shows."""
        return self.hidden.scores or (self.main_score,)

    @property
    def main_score(self) -> str:
        """The id of the score that sorts a leaderboard: the first, or what a twin declares."""
        first = next(iter(self.score_ids), "")
        if self.twin is None:
            return first
        from depthgauge.benchmarks.twins import TWINS

        twin = TWINS[self.twin]
        return twin.main_of(twin.options(self.options)) or first

    def better(self, score_id: str) -> str:
        """The direction of a score: `lower`, `higher` or `zero`."""
        if self.twin is None:
            return next(spec.metric.better for spec in self.specs if spec.id == score_id)
        from depthgauge.benchmarks.twins import TWINS

        metric = score_id.partition("@")[0].partition(":")[0]
        return "higher" if metric in TWINS[self.twin].higher else "lower"

    def tier_of(self, inputs: Collection[str]) -> str:
        """The tier of a method that takes these inputs: the last that has all of them.

        Inputs that no tier has, such as the sample's id, do not count. Empty without tiers.
        """
        counted = {name for taken in self.tiers.values() for name in taken} & set(inputs)
        return next((t for t, has in reversed(self.tiers.items()) if counted <= set(has)), "")

    @cached_property
    def region_texts(self) -> dict[str, str]:
        """The regions to compute for a sample: names with their expressions."""
        return self._texts(spec.region for spec in self.specs)

    @property
    def resolutions(self) -> tuple[str, ...]:
        """The resolutions of the truth that are scored; the plain one is always first."""
        return tuple(dict.fromkeys(["", *(spec.resolution for spec in self.specs)]))

    @property
    def views(self) -> tuple[tuple[str, str], ...]:
        """What is compared: each part at each resolution; the plain main map is always first."""
        scored = [(spec.resolution, spec.part) for spec in self.specs]
        return tuple(dict.fromkeys([("", ""), *scored]))

    def specs_at(self, resolution: str = "", part: str = "") -> list[ScoreSpec]:
        """The scores of one part at one resolution."""
        return [s for s in self.specs if (s.resolution, s.part) == (resolution, part)]

    def region_texts_at(self, resolution: str = "", part: str = "") -> dict[str, str]:
        """The regions to compute for them: names with their expressions."""
        return self._texts(spec.region for spec in self.specs_at(resolution, part))

    def quantity_of(self, part: str = "") -> str:
        """The quantity whose rules apply to a part."""
        return QUANTITIES[self.quantity].of_part(part).name

    def _texts(self, names: Iterable[str]) -> dict[str, str]:
        wanted = dict.fromkeys(names)
        if self.align.kind != "none":
            wanted[self.align.fit_on] = None
        return {name: self.regions.get(name, name) for name in wanted}


NOT_OF_TWINS = (
    "truth_scale",
    "truth_size",
    "crop",
    "interpolate",
    "interpolate_constant",
    "align",
    "truth",
    "estimate",
    "reading",
    "regions",
    "may_have",
    "derived",
    "axes",
    "scores",
    "given_regions",
    "resize_values",
)
"""Keys that decide nothing in a twin, which has its own rules."""
