"""The geometry audit: do pictures, depth, lens, baselines and poses of a dataset agree?

    found = audit_dataset("rig")
    found.ok, found.summary()

Depth is checked against depth (there and back), and depth against colours, which know nothing of a
depth scale, focal length or baseline that is wrong in both views.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from pydantic import Field

from depthgauge._options import Options
from depthgauge._progress import Progress, no_progress
from depthgauge.datasets import DATASETS
from depthgauge.datasets._stereogen import names
from depthgauge.datasets._stereogen.scene import (
    Pair,
    RigScene,
    read_scene,
    scene_folders,
    unknown_fields,
)
from depthgauge.engine.auditing.colours import match_colours
from depthgauge.engine.auditing.figures import (
    Finding,
    PairFigures,
    SceneAudit,
    off_the_row_m,
    pair_figures,
    pose_figures,
    rig_error_m,
)
from depthgauge.engine.auditing.pairs import (
    ViewPair,
    rig_pair,
    round_trip,
    sample_pair,
    valid_share,
)
from depthgauge.errors import BadData, DepthgaugeError
from depthgauge.types import Sample

_RIG = "stereogenbench"
_RIG_SHARE = 1e-3
"""Calibration files round their baseline: it may differ by this share from the cameras' poses."""


class AuditOptions(Options):
    """What is compared, and what counts as a fault."""

    frames: int = Field(default=5, ge=0)
    """Frames of a clip that are compared, spread over it; 0: all of them."""
    pairs: Literal["two", "all"] = "two"
    """Of a row of cameras: 00-01 and the widest pair, or all pairs."""
    occlusion: float = Field(default=0.01, gt=0.0, lt=1.0)
    """A pixel is occluded if the inverse depths of the two views differ by more than this share."""
    reach: int = Field(default=8, ge=1, le=64)
    """How far in px colours are searched around the place that depth gives."""
    baseline_m: float = Field(default=1e-6, gt=0.0)
    """Fault: a recorded baseline differs by more from the poses."""
    turned_deg: float = Field(default=0.01, gt=0.0)
    """Fault: cameras of one frame are turned by more against each other."""
    valid_depth: float = Field(default=0.5, ge=0.0, le=1.0)
    """Fault: a smaller share of the pixels has depth."""
    reprojection_px: float = Field(default=0.25, gt=0.0)
    """Fault: a larger median reprojection error of pixels that are not occluded."""
    visible: float = Field(default=0.2, ge=0.0, le=1.0)
    """Fault: the two views agree about the depth of a smaller share of the pixels."""
    colour_px: float = Field(default=0.25, gt=0.0)
    """Fault: colours are farther from where depth says, in the median of any frame; or 4 times as
    far as in the median frame, and more than 0.1 px."""
    matched: float = Field(default=0.5, ge=0.0, le=1.0)
    """Fault: a smaller share of windows with texture is found in the other view."""
    scale: float = Field(default=0.01, gt=0.0)
    """Fault: disparities by colour and by depth differ by a larger factor, beyond 3 errors."""


@dataclass(frozen=True, slots=True)
class Audit:
    """What was found in a dataset."""

    folder: str
    dataset: str
    options: AuditOptions
    scenes: tuple[SceneAudit, ...]

    @property
    def ok(self) -> bool:
        """Whether nothing speaks against any scene."""
        return all(scene.ok for scene in self.scenes)

    def summary(self) -> list[tuple[str, float, float]]:
        """What was measured: its name, the median over scenes (and pairs), and the worst."""
        pairs = [pair for scene in self.scenes for pair in scene.pairs]
        adjacent, wide = ([p for p in pairs if _is_wide(p) is wide] for wide in (False, True))
        rows: list[tuple[str, list[float | None], Callable[[list[float]], float]]] = [
            ("pose against recorded baseline (m)", [s.pose_baseline_m for s in self.scenes], max),
            ("angle between cameras (deg)", [s.turned_deg for s in self.scenes], max),
            ("share of pixels with depth", [s.valid_depth for s in self.scenes], min),
        ]
        for label, group in (("adjacent pair", adjacent), ("wider pairs", wide)):
            rows += [
                (f"{label}: reprojection (px)", [p.reprojection_px for p in group], max),
                (f"{label}: share not occluded", [p.visible_share for p in group], min),
                (f"{label}: colours against depth (px)", [p.colour_px for p in group], _largest),
                (f"{label}: up or down (px)", [p.vertical_px for p in group], _largest),
                (f"{label}: scale by colours", [p.scale for p in group], _farthest_from_1),
            ]
        return [_row(name, values, worst) for name, values, worst in rows if _known(values)]

    def to_json(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "ok": self.ok,
            "folder": self.folder,
            "dataset": self.dataset,
            "options": self.options.model_dump(),
            "failed": sum(not scene.ok for scene in self.scenes),
            "summary": [
                {"figure": name, "median": middle, "worst": worst}
                for name, middle, worst in self.summary()
            ],
            "scenes": [scene.to_json() for scene in self.scenes],
        }


def audit_dataset(
    root: str | Path,
    dataset: str = "",
    *,
    split: str = "all",
    options: AuditOptions | None = None,
    progress: Progress | None = None,
) -> Audit:
    """Audits the geometry of every scene of a folder; a scene that cannot be read is a finding.

    Args:
        root: The dataset's folder.
        dataset: Its layout; by default scenes of cameras in a row. Any layout of stereo pairs with
            true disparity works: `booster`, `middlebury-2014` ...
        split: Which part of it.
        options: What is compared, and what counts as a fault.
        progress: Called with every scene.

    Raises:
        BadData: There is nothing to audit.
        UnknownName: There is no such layout or split.
    """
    options, report = options or AuditOptions(), progress or no_progress
    root, dataset = Path(root), dataset or _RIG
    work = _rig_scenes(root, split, options) if dataset == _RIG else _samples(root, dataset, split)
    jobs = list(work)
    if not jobs:
        raise BadData(f"{root}: has no scene of '{dataset}', split '{split}', to audit.")
    found = []
    for number, (name, audit) in enumerate(jobs):
        report(name, number, len(jobs))
        try:
            found.append(audit(name, options))
        except DepthgaugeError as error:
            found.append(SceneAudit(name, findings=(Finding("files", str(error)),)))
    report("audited", len(jobs), len(jobs))
    return Audit(str(root), dataset, options, tuple(found))


Job = tuple[str, Callable[[str, AuditOptions], SceneAudit]]


def _rig_scenes(root: Path, split: str, options: AuditOptions) -> Iterator[Job]:
    from depthgauge.datasets.stereogenbench import is_in_split

    for folder in scene_folders(root):
        if is_in_split(root, folder, split):
            name = folder.relative_to(root).as_posix()
            yield name, lambda n, o, folder=folder: _audit_rig(folder, n, o)  # type: ignore[misc]  # the default binds it


def _samples(root: Path, dataset: str, split: str) -> Iterator[Job]:
    for sample in DATASETS[dataset].samples(root, split):
        yield sample.id, lambda n, o, sample=sample: _audit_sample(sample, n, o)  # type: ignore[misc]  # the default binds it


# --- one scene ------------------------------------------------------------------------------------


def _audit_rig(folder: Path, name: str, options: AuditOptions) -> SceneAudit:
    scene = read_scene(folder)
    frames = _spread(scene.length, options.frames)
    findings = [
        Finding("fields", f"{folder / file}: has fields that nobody knows: {', '.join(fields)}.")
        for file, fields in unknown_fields(folder)
    ]
    pose_m, turned = pose_figures(scene)
    findings += _pose_findings(folder, scene, pose_m, turned, options)
    findings += _lens_findings(folder, scene)
    shares = {
        (camera, frame): valid_share(scene.depth(camera, frame))
        for camera in range(scene.camera_count)
        for frame in frames
    }
    least = min(shares, key=lambda key: shares[key])
    if shares[least] < options.valid_depth:
        findings.append(
            Finding(
                "depth",
                f"{folder / names.depth_name(least[0])}: {shares[least]:.1%} of the pixels of "
                f"frame {least[1]} have depth.",
            )
        )
    chosen = scene.pairs() if options.pairs == "all" else _two_pairs(scene)
    figures = []
    for pair in chosen:
        views = (rig_pair(scene, pair, frame) for frame in frames)
        made = _measure(names.pair_name(pair), scene.baseline_m(pair), views, frames, options)
        figures.append(made)
        findings += _pair_findings(made, options)
    return SceneAudit(
        name,
        scene.length,
        scene.focal_px,
        pose_m,
        turned,
        shares[least],
        tuple(figures),
        tuple(findings),
    )


def _audit_sample(sample: Sample, name: str, options: AuditOptions) -> SceneAudit:
    frames = _spread(sample.length or 1, options.frames)
    every = list(sample.frames())
    chosen = [every[frame] for frame in frames]
    rig = sample.inputs.get("rig")
    baseline = None if rig is None or not np.isfinite(rig.baseline_m) else float(rig.baseline_m)
    shares = [valid_share(_truth(frame)) for frame in chosen]
    figures = _measure(
        "left-right", baseline, (sample_pair(frame) for frame in chosen), frames, options
    )
    findings = _pair_findings(figures, options)
    if min(shares) < options.valid_depth:
        findings.append(Finding("depth", f"{min(shares):.1%} of the pixels have a disparity."))
    focal = None if rig is None or "left" not in rig.cameras else rig.cameras["left"].focal_px
    apart = None if rig is None else rig_error_m(rig)
    if apart is not None and baseline and apart > _RIG_SHARE * baseline:
        findings.append(
            Finding("poses", f"the cameras are {apart:.3g} m closer or farther than the baseline.")
        )
    return SceneAudit(
        name,
        sample.length or 1,
        focal,
        apart,
        valid_depth=min(shares),
        pairs=(figures,),
        findings=tuple(findings),
    )


def _truth(sample: Sample) -> Any:
    if sample.truth is None or "disparity" not in sample.truth:
        raise BadData(f"{sample.id}: has no true disparity to audit.")
    return sample.truth["disparity"]


def _measure(
    name: str,
    baseline_m: float | None,
    views: Iterator[ViewPair],
    frames: list[int],
    options: AuditOptions,
) -> PairFigures:
    trips, matches = [], []
    for pair in views:
        trip = round_trip(pair, options.occlusion)
        matches.append(match_colours(pair, None if trip is None else trip.visible, options.reach))
        trips.append(trip)
    return pair_figures(name, baseline_m, trips, matches, frames)


def _spread(length: int, wanted: int) -> list[int]:
    """Numbers of frames, spread from the first to the last."""
    if not wanted or wanted >= length:
        return list(range(length))
    return sorted({round(place) for place in np.linspace(0, length - 1, wanted).tolist()})


def _two_pairs(scene: RigScene) -> tuple[Pair, ...]:
    last = scene.camera_count - 1
    return tuple(dict.fromkeys(scene.ordered(pair) for pair in ((0, 1), (0, last))))


# --- what speaks against it -----------------------------------------------------------------------


def _pose_findings(
    folder: Path, scene: RigScene, pose_m: float, turned: float, options: AuditOptions
) -> list[Finding]:
    path, found = folder / names.TRAJECTORY, []
    if pose_m > options.baseline_m:
        found.append(
            f"{path}: the distance of two cameras differs by {pose_m:.3g} m from the baseline in "
            f"{names.BASELINE}."
        )
    if turned > options.turned_deg:
        found.append(f"{path}: cameras of one frame are turned by {turned:.3g} degrees.")
    if (aside := off_the_row_m(scene)) > options.baseline_m:
        found.append(f"{path}: a camera is {aside:.3g} m off the row of the others.")
    # In a row, cameras follow each other to the right.
    order = scene.poses[0, :, :3, 3] @ scene.poses[0, 0, :3, 0]
    if not (np.diff(order) > 0).all() and not (np.diff(order) < 0).all():
        found.append(f"{path}: the cameras do not follow each other in the row; are two swapped?")
    return [Finding("poses", text) for text in found]


def _lens_findings(folder: Path, scene: RigScene) -> list[Finding]:
    (fx, fy), (width, height), (cx, cy) = scene.focal_px, scene.size_px, scene.centre_px
    path, found = folder / names.BASELINE, []
    if abs(fx / fy - 1) > 1e-3:
        found.append(
            f"{path}: the focal length is {fx:.2f} px along x and {fy:.2f} px along y; the "
            f"sensor's sides do not fit an image of {width}x{height} px."
        )
    if not (0 <= cx < width and 0 <= cy < height):
        found.append(f"{path}: the principal point ({cx:g}, {cy:g}) is outside the image.")
    return [Finding("lens", text) for text in found]


def _pair_findings(figures: PairFigures, options: AuditOptions) -> list[Finding]:
    where, found = f"pair {figures.pair}", []
    trip, share = figures.reprojection_px, figures.visible_share
    if trip is not None and trip > options.reprojection_px:
        found.append(
            Finding("reprojection", f"{where}: pixels return {trip:.2f} px from where they were.")
        )
    if share is not None and share < options.visible:
        found.append(
            Finding(
                "reprojection",
                f"{where}: the two views agree about the depth of {share:.1%} of the pixels.",
            )
        )
    return found + [Finding("colours", text) for text in _colour_texts(where, figures, options)]


def _colour_texts(where: str, figures: PairFigures, options: AuditOptions) -> Iterator[str]:
    limit, scale, error = options.colour_px, figures.scale, figures.scale_error
    if figures.matched_share is not None and figures.matched_share < options.matched:
        yield (
            f"{where}: {figures.matched_share:.1%} of the windows with texture are found within "
            f"{options.reach} px of where depth says."
        )
    worst, usual = figures.worst_frame_px, figures.usual_frame_px
    if worst is not None and usual is not None and worst > min(limit, max(0.1, 4 * usual)):
        yield (
            f"{where}: colours are {worst:.2f} px from where depth says, in frame "
            f"{figures.worst_frame}."
        )
    if figures.vertical_px is not None and abs(figures.vertical_px) > limit:
        yield f"{where}: colours are {figures.vertical_px:+.2f} px too low or high."
    if scale is not None and error is not None and abs(scale - 1) > max(options.scale, 3 * error):
        yield (
            f"{where}: disparities by colour are {scale:.4f} of those by depth (+-{error:.4f}); "
            "depth scale, focal length or baseline are wrong by that factor."
        )


# --- the summary ----------------------------------------------------------------------------------


def _is_wide(pair: PairFigures) -> bool:
    first, dash, second = pair.pair.partition("-")
    return bool(dash) and first.isdecimal() and abs(int(first) - int(second)) > 1


def _known(values: list[float | None]) -> list[float]:
    return [value for value in values if value is not None]


def _row(
    name: str, values: list[float | None], worst: Callable[[list[float]], float]
) -> tuple[str, float, float]:
    known = _known(values)
    return name, float(np.median(known)), float(worst(known))


def _largest(values: list[float]) -> float:
    return max(values, key=abs)


def _farthest_from_1(values: list[float]) -> float:
    return max(values, key=lambda value: abs(value - 1))
