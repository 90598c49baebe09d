"""The protocols that papers and programs use: what is searched for a published number.

Every dimension has the values that are usual for the quantity; a caller may name others. Rare
settings (a smaller truth, filled holes, an allowed range) depart from the plain one one at a time:
all combinations would match any number by chance.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any, Literal

from depthgauge.engine.explaining.measured import Setting
from depthgauge.engine.explaining.source import Source
from depthgauge.errors import DepthgaugeError, Misuse
from depthgauge.metrics import METRICS
from depthgauge.quantities import QUANTITIES
from depthgauge.types import Estimate, Sample

Shown = Literal["", "fraction", "good", "percent"]
"""How a paper prints a value: as it is; a percentage as a fraction; good in place of bad pixels;
a ratio as a percentage."""
_THRESHOLDS = (0.5, 0.75, 1, 1.25, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10)
_FINE_THRESHOLDS = (0.01, 0.03, 0.07, 0.1, 0.2, 0.3)
"""Of light fields, whose disparities are small."""
_SMALL_PX = 8.0
_LIGHT_FIELD_BORDER_PX = 15
"""What the 4D light field benchmark leaves out."""
_WIDEST_BORDER_PX = 64
_NEAR_LIMIT_PX = 192
"""Networks are trained up to this disparity, and many tables leave out what is beyond."""
_MOST_LABELS = 8
_QUANTILES = (50, 90, 95, 99)


@dataclass(frozen=True)
class Usual:
    """What is usual for a quantity."""

    metrics: tuple[str, ...]
    regions: tuple[str, ...] = ("all",)
    aligns: tuple[str, ...] = ("none",)
    crops: tuple[str | int, ...] = (0,)
    caps_m: tuple[float | None, ...] = (None,)
    """Depths beyond are no truth."""
    scales: tuple[float, ...] = (1,)
    """Of the truth."""


_PIXEL = ("mae", "rms", "mse", "bias", *(f"quantile:{n}" for n in _QUANTILES))
USUAL: Mapping[str, Usual] = {
    "disparity": Usual(
        metrics=(
            *(f"badpix:{t:g}" for t in _THRESHOLDS),
            *("d1:3,0.05", "d1_or:3,0.05", "absrel", "mse:100", *_PIXEL, "density"),
        ),
        regions=("all", "visible", "occluded", f"far:{_NEAR_LIMIT_PX}"),
        scales=(1, 0.5, 0.25),
    ),
    "depth": Usual(
        metrics=(
            *("absrel", "sqrel", "rms", "rmse_log", "log10", "silog", "mae", "mse", "bias"),
            *("delta:1.25", "delta:1.5625", "delta:1.953125", "quantile:50", "density"),
        ),
        aligns=("none", "median", "scale", "scale_shift", "scale_shift:disparity"),
        crops=(0, "garg", "eigen", "nyu"),
        caps_m=(None, 10, 50, 80),
    ),
    "flow": Usual(metrics=("epe", "fl:3,0.05", "npx:1", "npx:3", "npx:5", "rms", "density")),
}
"""By quantity; any other has its default metrics on all pixels."""
FILLINGS: Mapping[str, Mapping[str, Any]] = {
    "holes filled from the background": {"interpolate": "background"},
    "holes filled along the row": {"interpolate": "scanline"},
    "holes read as 0": {"interpolate": "constant", "interpolate_constant": 0},
}


@dataclass(frozen=True)
class Wanted:
    """What a caller says about the dimensions; empty: what is usual."""

    metrics: Sequence[str] = ()
    regions: Sequence[str] = ()
    aligns: Sequence[str] = ()
    crops: Sequence[str] = ()
    resizes: Sequence[str] = ()
    missing: Sequence[str] = ()
    """`bad`, `skip`, `fill`."""
    pools: Sequence[str] = ()


@dataclass(frozen=True)
class Space:
    """All protocols that are tried."""

    ids: tuple[str, ...]
    """Score ids with regions."""
    settings: tuple[Setting, ...]
    missing: tuple[str, ...]
    pools: tuple[str, ...]
    notes: tuple[str, ...] = field(default=())


def make_space(source: Source, wanted: Wanted | None = None) -> Space:
    """What is tried on these samples; regions that they cannot give are left out."""
    wanted = wanted or Wanted()
    declared = QUANTITIES[source.quantity]
    usual = USUAL.get(source.quantity) or Usual(metrics=declared.default_metrics)
    if _is_small(source):
        fine = tuple(f"badpix:{t:g}" for t in _FINE_THRESHOLDS)
        crops = (0, _LIGHT_FIELD_BORDER_PX)
        usual = replace(usual, metrics=(*fine, *usual.metrics), crops=crops, scales=(1,))
    regions = tuple(wanted.regions) or _regions(source, usual)
    metrics = tuple(wanted.metrics) or tuple(
        text for text in usual.metrics if METRICS[_name(text)].can_score(source.quantity)
    )
    ids = tuple(_with_regions(metrics, regions))
    missing = tuple(wanted.missing) or ("bad", "skip", "fill")
    for word in missing:
        if word not in ("bad", "skip", "fill"):
            raise Misuse(f"missing is bad, skip or fill, not '{word}'.")
    scenes = {sample.scene for sample in source.samples if sample.scene}
    pools = tuple(wanted.pools) or ("image", "pixel", *(("scene",) if scenes else ()))
    settings = tuple(_settings(source, usual, wanted, "fill" in missing))
    rules = tuple(word for word in missing if word != "fill") or ("bad",)
    return Space(ids, settings, rules, pools if len(source.samples) > 1 else ("image",))


def _name(text: str) -> str:
    return text.partition("@")[0].partition(":")[0]


def _with_regions(metrics: Iterable[str], regions: Sequence[str]) -> Iterator[str]:
    for metric in metrics:
        if "@" in metric:
            yield metric
            continue
        # Order statistics need passes of their own; they are rarely quoted for odd regions.
        few = regions[:2] if metric.startswith("quantile") else regions
        yield from (f"{metric}@{region}" for region in few)


def _regions(source: Source, usual: Usual) -> tuple[str, ...]:
    """The usual regions that some sample can give, and the masks of the dataset."""
    names = {name for sample in source.samples for name in sample.truth or ()}
    masks = sorted(n.removesuffix("_mask") for n in names if n.endswith("_mask"))
    other = {"visible_mask", "occluded_mask", "right_disparity"} & names
    kept = [name for name in usual.regions if name not in ("visible", "occluded") or other]
    return tuple(dict.fromkeys((*kept, *masks, *_labels(source.samples[0]))))


def _labels(sample: Sample) -> Iterator[str]:
    """Regions of label maps with few labels, such as materials."""
    import numpy as np

    truth: Mapping[str, Any] = sample.truth or {}
    for name in truth:
        if name.endswith("_labels"):
            found = np.unique(truth[name])
            if found.size <= _MOST_LABELS:
                start = name.removesuffix("_labels")
                yield from (f"{start}_{int(n)}" for n in found if n >= 0)


def _settings(source: Source, usual: Usual, wanted: Wanted, fill: bool) -> Iterator[Setting]:
    aligns = tuple(wanted.aligns) or usual.aligns
    border = _lost_border(source)
    crops = tuple(_crop(text) for text in wanted.crops) or ((border,) if border else usual.crops)
    sizes = [{"estimate_resize": how} for how in wanted.resizes] or list(_resizes(source))
    for size, align, crop, cap in product(sizes, aligns, crops, usual.caps_m):
        yield _setting({**size, **_aligned(align), **_cropped(crop), **_capped(cap)})
    plain = {**sizes[0], **_aligned(aligns[0]), **_cropped(crops[0])}
    for scale in usual.scales[1:]:
        yield _setting({**plain, "truth_scale": scale, "estimate_resize": "nearest"})
    if any(QUANTITIES[source.quantity].range_input in s.inputs for s in source.samples):
        yield _setting({**plain, "estimate": {"range": "inputs"}})
    if fill:
        for keys in FILLINGS.values():
            yield _setting({**plain, **keys})


def _setting(keys: dict[str, Any]) -> Setting:
    return Setting("; ".join(words_of(keys)), keys)


def words_of(keys: Mapping[str, Any]) -> Iterator[str]:
    """What a setting does, in words."""
    if "truth_scale" in keys:
        yield f"truth at {keys['truth_scale']:g} of its size"
    elif keys.get("estimate_resize", "none") != "none":
        kept = ", values kept" if keys.get("resize_values") == "kept" else ""
        yield f"estimates resized ({keys['estimate_resize']}{kept})"
    if "align" in keys:
        kind, space = keys["align"]["kind"], keys["align"].get("space")
        yield f"aligned by {kind.replace('_', ' and ')}{f' in {space}' if space else ''}"
    if keys.get("crop"):
        crop = keys["crop"]
        yield f"{crop} crop" if isinstance(crop, str) else f"without {crop} px of border"
    if "truth" in keys:
        yield f"truth up to {keys['truth']['max_depth_m']:g} m"
    if "estimate" in keys:
        yield "estimates outside the disparity range are missing"
    for words, filling in FILLINGS.items():
        if "interpolate" in keys and keys["interpolate"] == filling["interpolate"]:
            yield words


def _aligned(text: str) -> dict[str, Any]:
    kind, colon, space = text.partition(":")
    if kind == "none":
        return {}
    return {"align": {"kind": kind, **({"space": space} if colon else {})}}


def _crop(text: str) -> str | int:
    return int(text) if text.isdecimal() else text


def _cropped(crop: str | int) -> dict[str, Any]:
    return {"crop": crop} if crop else {}


def _capped(cap: float | None) -> dict[str, Any]:
    return {} if cap is None else {"truth": {"max_depth_m": cap}}


def _resizes(source: Source) -> Iterator[dict[str, Any]]:
    """How estimates of another size may have been compared; nothing where sizes agree."""
    if not _sizes_differ(source) or _lost_border(source):
        yield {}
        return
    for how in ("nearest", "bilinear", "zoom", "block"):
        yield {"estimate_resize": how}
    if QUANTITIES[source.quantity].main.resize != "keep":
        yield {"estimate_resize": "bilinear", "resize_values": "kept"}


def _is_small(source: Source) -> bool:
    """Whether disparities are as small as those of light fields, judged by the first sample."""
    if not QUANTITIES[source.quantity].between_views:
        return False
    import numpy as np

    truth: Mapping[str, Any] = source.samples[0].truth or {}
    values = truth[QUANTITIES[source.quantity].main.name]
    known = values[np.isfinite(values)]
    return bool(known.size and np.abs(known).max() < _SMALL_PX)


def _sizes_differ(source: Source) -> bool:
    """Whether some estimate has another size than its truth."""
    return any(mine != true for mine, true in _sizes(source))


def _lost_border(source: Source) -> int:
    """The width of the border that all estimates lack, as networks without padding do; 0: none."""
    found = {(true[0] - mine[0], true[1] - mine[1]) for mine, true in _sizes(source)}
    (rows, columns), *others = found or {(0, 0)}
    fits = not others and rows == columns and rows % 2 == 0 and 0 < rows <= 2 * _WIDEST_BORDER_PX
    return rows // 2 if fits else 0


def _sizes(source: Source) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Sizes of estimate and truth, of the first sample that each method has an estimate of."""
    main = QUANTITIES[source.quantity].main.name
    for find in source.methods.values():
        for sample in source.samples:
            try:
                found = find(sample)
            except DepthgaugeError:
                continue
            if found is not None:
                values = found.values if isinstance(found, Estimate) else found
                truth: Mapping[str, Any] = sample.truth or {}
                yield values.shape[:2], truth[main].shape[:2]
                break
