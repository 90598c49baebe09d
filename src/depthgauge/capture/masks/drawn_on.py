"""The pictures that a session's material mask is drawn on, in the frame of the mask.

That is the raw left photograph or the rectified one, as session.json says (`labels_on`). All
photographs of a camera have one mask: those that moved a little are brought back by the motion that
step `register` found, as `rectify` does.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from depthgauge import io
from depthgauge.capture.calibrate.calibration import read_calibration
from depthgauge.capture.labels import CLASSES
from depthgauge.capture.photographs.motion import moved_along
from depthgauge.capture.photographs.movements import Way, read_movements
from depthgauge.capture.steps import file_hash, has_step
from depthgauge.errors import BadData, BadFile, WrongShape
from depthgauge.io.text import parse_json
from depthgauge.sessions import Session

MATERIALS = "materials"
STATE = "materials.state.json"
MOST_PIXELS = 2**26
_BAND = 256


@dataclass(frozen=True, slots=True)
class DrawnOn:
    """The pictures on which a mask is drawn."""

    session: Session
    work: Path
    files: dict[str, Path]
    """By illumination, `im0`, `im1` ..."""
    size_px: tuple[int, int]

    def picture(self, name: str) -> NDArray[np.uint8]:
        """A picture (H, W, 3) in the frame of the mask.

        Raises:
            BadData: There is none of this name.
            WrongShape: It has another size than the first.
        """
        if name not in self.files:
            raise BadData(f"{self.session.folder}: there is no picture {name[:40]!r}.")
        image = _colours(io.read_image(self.files[name], MOST_PIXELS))
        if image.shape[1::-1] != self.size_px:
            width, height = self.size_px
            raise WrongShape(f"{self.files[name]}: is not {width}x{height} as the first picture.")
        way = self._way(name)
        return _brought_back(image, way, self.work) if way else image

    def _way(self, name: str) -> Way:
        if self.session.labels_on != "raw":
            return ()  # rectified pictures are in place
        return read_movements(self.work).of("passive", "L", name)


def drawn_on(session: Session, work: Path) -> DrawnOn:
    """The pictures of a session's mask.

    Raises:
        BadData: There are none; the sentence says what to do.
    """
    if session.labels_on == "raw":
        files = session.passive_images("L")
        lack = "photographs of the scene in passive/L"
    else:
        folder = work / "rectify" / "LR" / "L"
        files = {p.stem: p for p in sorted(folder.glob("*.png"))}
        lack = "rectified pictures; run `depthgauge capture rectify`"
    if not files:
        raise BadData(f"{session.folder}: has no {lack}.")
    first = io.read_image(next(iter(files.values())), MOST_PIXELS)
    height, width = first.shape[:2]
    return DrawnOn(session, work, files, (width, height))


def label_path(session: Session) -> Path:
    """The mask that all steps read."""
    return session.folder / "labels" / f"{MATERIALS}.png"


def read_mask(session: Session, size_px: tuple[int, int]) -> NDArray[np.uint8] | None:
    """The session's mask; None if there is none.

    Raises:
        BadData: It has classes that do not exist.
        WrongShape: It does not have the size of the pictures.
    """
    path = label_path(session)
    if not path.is_file():
        return None
    labels = io.read_labels(path)
    if labels.shape != size_px[::-1]:
        wide, high = labels.shape[::-1]
        raise WrongShape(
            f"{path}: is {wide}x{high}, the pictures it is drawn on are {size_px[0]}x{size_px[1]}; "
            "session.json says on which it was (labels_on)."
        )
    if labels.min() < 0 or labels.max() >= CLASSES[MATERIALS]:
        raise BadData(f"{path}: expected classes 0 to 3, found up to {labels.max()}.")
    return labels.astype(np.uint8)


def write_mask(session: Session, labels: NDArray[np.uint8]) -> None:
    """Writes the mask, and notes which file that was.

    Raises:
        CannotWrite: It cannot be written.
    """
    path = label_path(session)
    path.parent.mkdir(parents=True, exist_ok=True)
    io.write_image(path, labels)
    note_mask(session)


def note_mask(session: Session) -> None:
    """Notes that the mask is what its history says, so that `is_ours` knows it."""
    state = {"schema": 1, "sha256": file_hash(label_path(session))}
    note = session.folder / "by-hand" / STATE
    note.parent.mkdir(parents=True, exist_ok=True)
    io.write_text(note, json.dumps(state) + "\n")


def is_ours(session: Session) -> bool:
    """Whether the mask is as `note_mask` knows it; False if another program changed it."""
    path, note = label_path(session), session.folder / "by-hand" / STATE
    try:
        state = parse_json(note.read_text(encoding="utf-8"))
        return path.is_file() and bool(state["sha256"] == file_hash(path))
    except (OSError, ValueError, TypeError, KeyError, BadFile):
        return False


def _colours(image: NDArray[np.generic]) -> NDArray[np.uint8]:
    plain = image if image.dtype == np.uint8 else np.rint(255 * np.clip(image, 0, 1))
    colours = plain if plain.ndim == 3 else np.repeat(plain[..., None], 3, axis=2)
    return np.ascontiguousarray(colours[..., :3], np.uint8)


def _brought_back(image: NDArray[np.uint8], way: Way, work: Path) -> NDArray[np.uint8]:
    """A photograph that moved, where it would be if it had not."""
    import cv2

    if not has_step(work, "calibrate"):
        return image
    camera = read_calibration(work).cameras["L"]
    height, width = image.shape[:2]
    out = np.zeros_like(image)
    for start in range(0, height, _BAND):
        y, x = np.mgrid[start : min(start + _BAND, height), 0:width].astype(np.float64)
        place = moved_along(np.stack([x, y], axis=-1), way, camera).astype(np.float32)
        out[start : start + _BAND] = cv2.remap(
            image, place, None, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE
        )
    return out
