"""The step that asks what moved: corrects what is small, refuses what is large."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import Field

from depthgauge import io
from depthgauge._options import Options
from depthgauge.capture.calibrate.calibration import FILE as CALIBRATION
from depthgauge.capture.calibrate.calibration import Calibration, read_calibration
from depthgauge.capture.photographs.brackets import pattern_files
from depthgauge.capture.photographs.exposure import (
    exposure_figures,
    exposure_json,
    exposure_warnings,
)
from depthgauge.capture.photographs.motion import STILL, Fit, Motion
from depthgauge.capture.photographs.movements import Movements, Way, write_movements
from depthgauge.capture.register.camera import CameraMotions, register_camera
from depthgauge.capture.register.drift import drift_of_centre, drift_of_right
from depthgauge.capture.register.views import Drift, Rows, corrected
from depthgauge.capture.registry import StepPlan, StepSpec, StepTask, step_function
from depthgauge.capture.steps import StepOutput
from depthgauge.errors import BadData
from depthgauge.sessions import Session
from depthgauge.types import Camera

EXPOSURE, DETAILS = "exposure.json", "details.json"
_ROW_LEAST_SIGMAS = 5.0
_FEW_FOLLOW = 0.4
"""Below this share of details that move alike, the motion is not that of the camera alone."""


class RegisterOptions(Options):
    """What is corrected, and what is refused."""

    least_px: float = Field(default=0.1, ge=0.02)
    """Smaller motions are reported and not corrected."""
    most_share: float = Field(default=0.025, gt=0.0, le=0.2)
    """The largest motion that is corrected, as a share of the photographs' width; larger ones are
    refused."""


SPEC = StepSpec(
    "register",
    "What moved",
    "Compares all photographs: finds what moved and what is badly exposed, corrects small motions.",
    about="""Patterns are compared with each other and with the photographs of the scene, and the
    rows of both cameras with the calibration. Motions up to a limit are corrected when photographs
    are rectified; larger ones are an error.""",
    options=RegisterOptions,
    after=("calibrate",),
)


def plan(task: StepTask, options: RegisterOptions) -> StepPlan:
    """Finds what moved between the photographs of a session.

    Writes `movements.json` (the motion of each photograph that moved), `exposure.json` (shares of
    saturated and dark pixels of each pattern) and, if a camera turned after the calibration,
    `calibration.json` with the corrected one.

    Raises:
        BadData: Something moved by more than the limit; the message says what, and how far.
    """
    session = task.session
    calibration = read_calibration(task.work, as_photographed=True)
    patterns = {name: pattern_files(session, name) for name in ("L", "R")}
    scenes = {name: session.passive_images(name) for name in calibration.cameras}

    def make(folder: Path) -> StepOutput:
        return _Job(session, calibration, options, folder, task.progress).do()

    files = [p for own in patterns.values() for file in own.values() for p in file.paths]
    files += [path for own in scenes.values() for path in own.values()]
    return StepPlan(make, files=[path for path in files if path.is_file()])


register = step_function(SPEC, plan)


@dataclass(frozen=True, slots=True, eq=False)
class _Job:
    session: Session
    calibration: Calibration
    options: RegisterOptions
    folder: Path
    progress: Callable[[str, int, int], None]

    def do(self) -> StepOutput:
        found = self._cameras()
        movements = Movements(dict(self._moved(found)))
        write_movements(self.folder, movements)
        exposures = {name: own.exposures for name, own in found.items() if own.exposures}
        text = json.dumps({"schema": 1, "patterns": exposure_json(exposures)}, indent=1)
        io.write_text(self.folder / EXPOSURE, text + "\n")
        drifts, rows = self._drifts(found, movements)
        self._write_details(found, rows)
        said = self._warnings(found)
        fixed = self.calibration
        for name, drift in drifts.items():
            if self._is_corrected(drift):
                fixed = corrected(fixed, drift.motion, name)
                said.append(_drift_sentence(name, drift))
        if fixed is not self.calibration:
            text = json.dumps(fixed.to_json(), indent=1, allow_nan=False)
            io.write_text(self.folder / CALIBRATION, text + "\n")
        figures = {
            "limit_px": self._limit(self.calibration.cameras["L"]),
            "cameras": {name: self._figures(name, own) for name, own in found.items()},
            "rows": self._row_figures(drifts.get("R")),
            "rows_of_C": self._row_figures(drifts.get("C")),
            "exposure": exposure_figures(exposures),
        }
        return StepOutput(figures, (*said, *exposure_warnings(exposures)))

    def _cameras(self) -> dict[str, CameraMotions]:
        readers: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {}
        for name in self.calibration.cameras:
            patterns = pattern_files(self.session, name) if name in ("L", "R") else {}
            scenes = self.session.passive_images(name)
            readers[name] = (
                {key: file.read for key, file in patterns.items()},
                {key: partial(io.read_image, path) for key, path in scenes.items()},
            )
        total = sum(len(a) + len(b) for a, b in readers.values())
        count = 0

        def done() -> None:
            nonlocal count
            count += 1
            self.progress("comparing photographs", count, total)

        return {
            name: register_camera(
                self.calibration.cameras[name], *own, least_px=self.options.least_px, done=done
            )
            for name, own in readers.items()
        }

    def _moved(self, found: Mapping[str, CameraMotions]) -> Iterator[tuple[str, dict[str, Way]]]:
        """The ways of all photographs that moved; refuses what is large."""
        for name, own in found.items():
            camera = self.calibration.cameras[name]
            first = self._kept(own.scene, camera)
            self._refuse_large(
                name, "its photographs of the scene and those of the patterns", first
            )
            ways: dict[str, Way] = {}
            for group in own.groups:
                motion = self._kept(group.fit, camera)
                what = f"the patterns {_span(group.names)} and the other patterns"
                self._refuse_large(name, what, motion)
                way = tuple(m for m in (first, motion) if m is not STILL)
                ways |= {pattern: way for pattern in group.names if way}
            yield f"pattern/{name}", ways
            scenes: dict[str, Way] = {}
            for scene, fit in own.others.items():
                motion = self._kept(fit, camera)
                self._refuse_large(name, f"its first photograph of the scene and {scene}", motion)
                if motion is not STILL:
                    scenes[scene] = (motion,)
            yield f"passive/{name}", scenes

    def _kept(self, fit: Fit | None, camera: Camera) -> Motion:
        """The motion to correct; `STILL` if it is too small."""
        if fit is None or fit.motion.most_px(camera) < self.options.least_px:
            return STILL
        return fit.motion

    def _limit(self, camera: Camera) -> float:
        return round(self.options.most_share * camera.size_px[0], 2)

    def _refuse_large(self, name: str, between: str, motion: Motion) -> None:
        camera = self.calibration.cameras[name]
        limit, far = self._limit(camera), motion.most_px(camera)
        if far > limit:
            raise BadData(
                f"{self.session.folder}: camera {name} moved between {between} by "
                f"{_directions(motion.typical_px(camera))}, at most {far:.1f} px, and only "
                f"{limit:g} px are corrected; take the photographs again without touching the rig, "
                "leave out those that moved, or raise the limit (--most-share)."
            )

    def _write_details(self, found: Mapping[str, CameraMotions], rows: Rows | None) -> None:
        """For the picture: the shift of every pattern, and the rows of matching points."""
        shifts = {name: dict(own.shifts_px) for name, own in found.items() if own.shifts_px}
        lower = [] if rows is None else np.column_stack([rows.left_px, rows.lower_px]).tolist()
        text = json.dumps({"schema": 1, "shifts_px": shifts, "rows": lower}, indent=1)
        io.write_text(self.folder / DETAILS, text + "\n")

    def _drifts(
        self, found: Mapping[str, CameraMotions], movements: Movements
    ) -> tuple[dict[str, Drift], Rows | None]:
        """How R and C moved against L since the calibration; refuses what is large.

        Cameras whose photographs do not match are left out.
        """
        names = [name for name in found["L"].exposures if name in found["R"].exposures]
        right = drift_of_right(
            self.session, self.calibration, names, movements, self.folder, self.progress
        )
        drifts = {} if right is None else {"R": right[0]}
        self.progress("comparing rows", 1, 2)
        centre = drift_of_centre(self.session, self.calibration, movements)
        self.progress("comparing rows", 2, 2)
        drifts |= {} if centre is None else {"C": centre}
        for name, drift in drifts.items():
            limit = self._limit(self.calibration.cameras[name])
            if drift.most_px > limit and self._is_corrected(drift):
                raise BadData(
                    f"{self.session.folder}: matching points of L and {name} are up to "
                    f"{drift.most_px:.1f} px off their rows (median {drift.median_px:+.1f} px), "
                    f"and only {limit:g} px are corrected; a camera was moved after the "
                    "calibration: calibrate again, or raise the limit (--most-share)."
                )
        return drifts, None if right is None else right[1]

    def _is_corrected(self, drift: Drift) -> bool:
        least = max(self.options.least_px, _ROW_LEAST_SIGMAS * drift.sigma_px)
        return drift.most_px >= least

    def _warnings(self, found: Mapping[str, CameraMotions]) -> list[str]:
        said = []
        for name, own in found.items():
            camera = self.calibration.cameras[name]
            if own.scene is not None and self._kept(own.scene, camera) is not STILL:
                between = "between its photographs of the scene and those of the patterns"
                said.append(_sentence(name, between, own.scene, camera))
            for group in own.groups:
                if group.fit is not None and self._kept(group.fit, camera) is not STILL:
                    between = f"at the patterns {_span(group.names)}, against the others,"
                    said.append(_sentence(name, between, group.fit, camera))
            for scene, fit in own.others.items():
                if self._kept(fit, camera) is not STILL:
                    between = f"between its first photograph of the scene and {scene}"
                    said.append(_sentence(name, between, fit, camera))
            if own.not_compared:
                said.append(
                    f"camera {name}: photographs {', '.join(own.not_compared)} of the scene have "
                    "too few details in common with the others to see whether it moved."
                )
        return said

    def _figures(self, name: str, own: CameraMotions) -> dict[str, Any]:
        camera = self.calibration.cameras[name]
        figures: dict[str, Any] = {"groups_of_patterns": len(own.groups)}
        if own.shifts_px:
            figures["largest_shift_px"] = round(max(map(_length, own.shifts_px.values())), 4)
        if own.scene is not None:
            figures["scene_to_patterns"] = self._fit_figures(own.scene, camera)
        for group in own.groups:
            if group.fit is not None:
                figures[f"patterns {_span(group.names)}"] = self._fit_figures(group.fit, camera)
        for scene, fit in own.others.items():
            figures[scene] = self._fit_figures(fit, camera)
        return figures

    def _fit_figures(self, fit: Fit, camera: Camera) -> dict[str, Any]:
        return {
            "kind": fit.motion.kind,
            "right_px": round(fit.shift_px[0], 4),
            "down_px": round(fit.shift_px[1], 4),
            "most_px": round(fit.motion.most_px(camera), 4),
            "sigma_px": round(fit.sigma_px, 4),
            "following_share": round(fit.following, 4),
            "corrected": self._kept(fit, camera) is not STILL,
        }

    def _row_figures(self, drift: Drift | None) -> dict[str, Any]:
        if drift is None:
            return {"compared": False}
        return {
            "compared": True,
            "kind": drift.motion.kind,
            "median_px": round(drift.median_px, 4),
            "most_px": round(drift.most_px, 4),
            "left_px": round(drift.left_px, 4),
            "sigma_px": round(drift.sigma_px, 4),
            "corrected": self._is_corrected(drift),
        }


def _sentence(name: str, between: str, fit: Fit, camera: Camera) -> str:
    said = (
        f"camera {name} moved {between} by {_directions(fit.motion.typical_px(camera))} "
        f"(± {max(fit.sigma_px, 0.001):.3f} px; at most {fit.motion.most_px(camera):.2f} px): "
        "corrected"
    )
    if fit.following < _FEW_FOLLOW:
        return (
            f"{said}, but only {100 * fit.following:.0f} % of the details follow that motion; see "
            "whether things in the scene moved too."
        )
    return f"{said}."


def _drift_sentence(name: str, drift: Drift) -> str:
    what = "its photographs shifted" if drift.motion.kind == "shift" else "it turned"
    return (
        f"camera {name} moved against L since the calibration ({what}): matching points are "
        f"{drift.median_px:+.2f} px off their rows, at most {drift.most_px:.2f} px; the "
        f"calibration is corrected, {drift.left_px:.3f} px remain."
    )


def _directions(px: tuple[float, float]) -> str:
    """`8.0 px right and 5.0 px down`."""
    right, down = px
    digits = 1 if max(abs(right), abs(down)) >= 1 else 2
    across = f"{abs(right):.{digits}f} px {'right' if right >= 0 else 'left'}"
    return f"{across} and {abs(down):.{digits}f} px {'down' if down >= 0 else 'up'}"


def _length(px: tuple[float, float]) -> float:
    return float(np.hypot(*px))


def _span(names: tuple[str, ...]) -> str:
    return names[0] if len(names) == 1 else f"{names[0]} to {names[-1]}"
