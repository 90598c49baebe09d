"""Photographs that were paired, written as a session: copied where possible, else as PNG."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge import io
from depthgauge._options import signature_from
from depthgauge._progress import Progress, no_progress
from depthgauge.capture.importing.names import shot_names
from depthgauge.capture.importing.options import ImportOptions
from depthgauge.capture.importing.pairing import Pairing, pair_photographs
from depthgauge.capture.importing.sources import KINDS, Photograph, list_photographs
from depthgauge.errors import BadData, BadFile, CannotWrite, Misuse
from depthgauge.io.photographs.developed import ending, stored_pixels
from depthgauge.io.photographs.orientation import upright
from depthgauge.io.text import parse_json
from depthgauge.sessions import CAMERAS, Board, Session, open_session, write_session
from depthgauge.sessions.session import META, PICTURES

SOURCES = "sources.json"
_ORIENTATIONS = "orientations"
_THUMB_PX = 240
_USUAL_BITS = (10, 12, 14)


@dataclass(frozen=True, slots=True, eq=False)
class Thumb:
    """A small copy of a photograph, and what is remarkable about it."""

    photograph: Photograph
    pixels: NDArray[np.uint8]
    size_px: tuple[int, int]
    """Width and height of the photograph, upright."""
    largest: int
    """Its largest value."""
    bits: int
    """Of its file, 8 or 16."""


@dataclass(frozen=True, slots=True, eq=False)
class Imported:
    """What was imported, or would be."""

    kind: str
    folder: Path
    """The session's."""
    pairing: Pairing
    names: tuple[str, ...]
    """The name of each shot in the session."""
    thumbs: Mapping[Path, Thumb]
    """By the photograph's file, for the contact sheet."""
    unreadable: Mapping[str, str]
    """Why files were left out, by their path."""
    warnings: tuple[str, ...]
    written: bool = True

    def to_json(self) -> dict[str, Any]:
        """Plain data for programs."""
        return {
            "kind": self.kind,
            "folder": str(self.folder),
            "paired_by": self.pairing.how,
            "clock_offsets_s": dict(self.pairing.offsets_s),
            "shots": {
                name: {camera: str(photo.path) for camera, photo in shot.photographs.items()}
                for name, shot in zip(self.names, self.pairing.shots, strict=True)
            },
            "alone": [str(photo.path) for photo in self.pairing.alone],
            "unreadable": dict(self.unreadable),
            "warnings": list(self.warnings),
            "written": self.written,
        }


@dataclass(slots=True)
class _SourcePhotographs:
    """What the folders hold, by camera."""

    photographs: dict[str, list[Photograph]] = field(default_factory=dict)
    thumbs: dict[Path, Thumb] = field(default_factory=dict)
    unreadable: dict[str, str] = field(default_factory=dict)


@signature_from(ImportOptions)
def import_photographs(
    sources: Mapping[str, Path],
    out: Path,
    kind: str,
    options: ImportOptions,
    *,
    board: Board | None = None,
    write: bool = True,
    progress: Progress | None = None,
) -> Imported:
    """Pairs the photographs of several cameras and writes them as shots of a session.

    PNG, JPEG and TIFF are copied as they are. RAW and HEIC become PNG of up to 16 bits, and so do
    photographs that must be turned differently than their own tag says, or whose values fill only
    10, 12 or 14 of 16 bits.

    Args:
        sources: A folder for each camera: L, R and perhaps C; or one as `*`, with `names`.
        out: The session's folder; it is made if there is none.
        kind: `calibration`, `passive` or `pattern`.
        options: How they are paired and stored.
        board: The calibration board of a new session; it may also be found later.
        write: False: read and pair everything, but write nothing.
        progress: Called for each photograph.

    Raises:
        BadData: The photographs cannot be paired.
        CannotWrite: The session has photographs of this kind already.
        Misuse: There is no such kind.
    """
    if kind not in KINDS:
        raise Misuse(f"photographs are of kind {', '.join(KINDS)}, found '{kind}'")
    say = progress or no_progress
    session = _session(out, board)
    if write:
        _need_room(session, kind, options.overwrite)
    found = _read_all(sources, say)
    pairing = pair_photographs(found.photographs, options)
    chosen = _orientations(pairing, options, _sources(out))
    largest = _largest(pairing, found.thumbs)
    bits = _bits(largest, options)
    names = shot_names(kind, pairing.shots, options.brackets)
    warnings = (*pairing.notes, *_warnings(pairing, found, chosen, options))
    if options.bits is None:
        warnings = (*warnings, *_bit_warnings(largest, bits))
    if write:
        _write(session, kind, pairing, names, chosen, bits, say)
    return Imported(
        kind, out, pairing, names, found.thumbs, found.unreadable, warnings, written=write
    )


def _session(out: Path, board: Board | None) -> Session:
    if (out / META).is_file():
        session = open_session(out)
        if board is not None and session.board not in (None, board):
            raise Misuse(f"{out / META}: has another board already; change it there")
        return session if board is None else session.with_board(board)
    return Session(out, out.resolve().name, board)


def _need_room(session: Session, kind: str, overwrite: bool) -> None:
    there = [c for c in CAMERAS if any(_pictures_in(session.folder / kind / c))]
    if there and not overwrite:
        raise CannotWrite(
            f"{session.folder / kind}: has photographs of camera {', '.join(there)} already; say "
            "--overwrite (overwrite=True) to replace them."
        )


def _pictures_in(folder: Path) -> Iterator[Path]:
    return (p for p in folder.glob("*") if p.suffix.lower() in PICTURES)


def _read_all(sources: Mapping[str, Path], say: Progress) -> _SourcePhotographs:
    """Every photograph once: whether it can be read, a small copy, its largest value."""
    found, listed = _SourcePhotographs(), []
    for camera, folder in sorted(sources.items(), key=lambda item: "LCR*".index(item[0])):
        photos, bad = list_photographs(camera, folder)
        found.unreadable |= {str(folder / name): why for name, why in bad.items()}
        listed += photos
    for done, photo in enumerate(listed):
        try:
            found.thumbs[photo.path] = _thumb(photo)
            found.photographs.setdefault(photo.camera, []).append(photo)
        except BadFile as error:
            found.unreadable[str(photo.path)] = str(error)
        say("reading photographs", done + 1, len(listed))
    if not found.photographs:
        raise BadData(f"no photograph can be read: {next(iter(found.unreadable.values()))}.")
    return found


def _thumb(photo: Photograph) -> Thumb:
    import cv2

    pixels = stored_pixels(photo.path)
    bits = 8 * pixels.dtype.itemsize
    seen = upright(pixels, photo.exif.orientation)
    height, width = seen.shape[:2]
    factor = min(1.0, _THUMB_PX / max(height, width))
    size = (max(1, round(width * factor)), max(1, round(height * factor)))
    small = cv2.resize(seen, size, interpolation=cv2.INTER_AREA).astype(np.float64)
    # Dim photographs are shown brighter; it is only a small copy.
    top = float(np.percentile(small, 99)) or 1.0
    full = 2.0**bits - 1
    bright = small / full if top > 0.3 * full else small / top * 0.7
    shown = np.rint(255 * np.clip(bright, 0, 1)).astype(np.uint8)
    shown = shown if shown.ndim == 3 else np.repeat(shown[..., None], 3, axis=2)
    return Thumb(photo, shown, (width, height), int(pixels.max()), bits)


def _orientations(
    pairing: Pairing, options: ImportOptions, before: Mapping[str, Any]
) -> dict[str, int]:
    """One orientation for each camera: it does not turn on its rig, whatever its sensor felt.

    It is that of photographs imported before, else that of most.
    """
    found: dict[str, Counter[int]] = {}
    for shot in pairing.shots:
        for camera, photo in shot.photographs.items():
            found.setdefault(camera, Counter())[photo.exif.orientation] += 1
    if options.orientation == "stored":
        return dict.fromkeys(found, 1)
    used = {c: int(turn) for c, turn in before.get(_ORIENTATIONS, {}).items()}
    return {camera: used.get(camera, n.most_common(1)[0][0]) for camera, n in found.items()}


def _largest(pairing: Pairing, thumbs: Mapping[Path, Thumb]) -> dict[str, int]:
    """The largest value of each camera's files of 16 bits."""
    largest: dict[str, int] = {}
    for shot in pairing.shots:
        for camera, photo in shot.photographs.items():
            thumb = thumbs[photo.path]
            if thumb.bits == 16:
                largest[camera] = max(largest.get(camera, 0), thumb.largest)
    return largest


def _bits(largest: Mapping[str, int], options: ImportOptions) -> dict[str, int]:
    """Bits that each camera's values fill; 16 unless they end exactly where fewer bits do."""
    if options.bits is not None:
        if over := [c for c, most in largest.items() if most >= 2**options.bits]:
            raise Misuse(
                f"camera {over[0]} has a value of {largest[over[0]]}, more than {options.bits} "
                "bits; leave out --bits"
            )
        return dict.fromkeys(largest, options.bits)
    return {
        camera: next((bits for bits in _USUAL_BITS if most == 2**bits - 1), 16)
        for camera, most in largest.items()
    }


def _warnings(
    pairing: Pairing,
    found: _SourcePhotographs,
    chosen: Mapping[str, int],
    options: ImportOptions,
) -> Iterator[str]:
    yield from (f"{why}; it is left out." for why in found.unreadable.values())
    if pairing.alone:
        names = ", ".join(f"{p.camera}: {p.path.name}" for p in pairing.alone[:8])
        more = f" and {len(pairing.alone) - 8} more" if len(pairing.alone) > 8 else ""
        one = (
            "1 photograph has"
            if len(pairing.alone) == 1
            else f"{len(pairing.alone)} photographs have"
        )
        yield f"{one} no partner and is left out ({names}{more})."
    for camera, orientation in chosen.items():
        others = sum(
            shot.photographs[camera].exif.orientation != orientation
            for shot in pairing.shots
            if camera in shot.photographs
        )
        if others and options.orientation == "exif":
            yield (
                f"camera {camera}: {others} photographs say another orientation than "
                f"{orientation}, as most do; on a rig all have the same, so they are turned alike."
            )
    yield from _odd_sizes(pairing, found.thumbs, chosen)


def _bit_warnings(largest: Mapping[str, int], bits: Mapping[str, int]) -> Iterator[str]:
    """What was concluded from the largest values, or should be decided by a person."""
    for camera, used in bits.items():
        fewer = next((bits for bits in _USUAL_BITS if largest[camera] < 2**bits), None)
        if used < 16:
            yield (
                f"camera {camera}: no value exceeds {2**used - 1}, so its files of 16 bits hold "
                f"{used}; values are scaled to fill all (--bits 16 leaves them)."
            )
        elif fewer is not None:
            yield (
                f"camera {camera}: no value exceeds {largest[camera]} of 65535; if its files hold "
                f"{fewer} bits, say --bits {fewer}, or else they are underexposed."
            )


def _odd_sizes(
    pairing: Pairing, thumbs: Mapping[Path, Thumb], chosen: Mapping[str, int]
) -> Iterator[str]:
    for camera in chosen:
        sizes = Counter(
            tuple(sorted(thumbs[shot.photographs[camera].path].size_px))
            for shot in pairing.shots
            if camera in shot.photographs
        )
        if len(sizes) > 1:
            text = ", ".join(f"{n} of {b}x{a}" for (a, b), n in sizes.most_common())
            yield f"camera {camera}: photographs have different sizes ({text}); a camera has one."


# --- writing --------------------------------------------------------------------------------------


def _write(
    session: Session,
    kind: str,
    pairing: Pairing,
    names: Sequence[str],
    chosen: Mapping[str, int],
    bits: Mapping[str, int],
    say: Progress,
) -> None:
    total = sum(len(shot.photographs) for shot in pairing.shots)
    record: dict[str, Any] = {}
    done = 0
    with _aside(session.folder) as aside:
        for name, shot in zip(names, pairing.shots, strict=True):
            for camera, photo in shot.photographs.items():
                folder = aside / camera
                folder.mkdir(exist_ok=True)
                stored = _store(photo, folder / name, chosen[camera], bits.get(camera, 16))
                record.setdefault(name, {})[camera] = {
                    "file": str(photo.path),
                    "stored": stored.name,
                    "orientation": photo.exif.orientation,
                    "taken_s": photo.exif.taken_s,
                }
                done += 1
                say("writing photographs", done, total)
        for camera in CAMERAS:
            target = session.folder / kind / camera
            for old in list(_pictures_in(target)):
                old.unlink()
            if (aside / camera).is_dir():
                target.mkdir(parents=True, exist_ok=True)
                for path in sorted((aside / camera).iterdir()):
                    os.replace(path, target / path.name)
    how = {"paired_by": pairing.how, "clock_offsets_s": dict(pairing.offsets_s), "shots": record}
    before = _sources(session.folder)
    turned = {**before.get(_ORIENTATIONS, {}), **chosen}
    text = json.dumps({**before, "schema": 1, _ORIENTATIONS: turned, kind: how}, indent=1)
    io.write_text(session.folder / SOURCES, text + "\n")
    write_session(session)


@contextmanager
def _aside(folder: Path) -> Iterator[Path]:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        aside = tempfile.TemporaryDirectory(
            dir=folder, prefix=".import-", ignore_cleanup_errors=True
        )
    except OSError as error:
        raise CannotWrite(f"{folder}: cannot be written: {error.strerror or error}.") from None
    with aside as name:
        yield Path(name)


def _store(photo: Photograph, stem: Path, orientation: int, bits: int) -> Path:
    """The photograph as a file of the session: a copy, or a PNG."""
    kept = ending(photo.path) in PICTURES and photo.exif.orientation == orientation
    if kept and bits == 16:
        target = stem.with_name(stem.name + ending(photo.path))
        try:
            shutil.copyfile(photo.path, target)
        except OSError as error:
            raise CannotWrite(f"{target}: cannot be written: {error.strerror or error}.") from None
        return target
    pixels = upright(stored_pixels(photo.path), orientation)
    if pixels.dtype == np.uint16 and bits < 16:
        scale = 65535 / (2**bits - 1)
        pixels = np.rint(pixels * scale).astype(np.uint16)
    target = stem.with_name(f"{stem.name}.png")
    io.write_image(target, pixels)
    return target


def _sources(folder: Path) -> dict[str, Any]:
    try:
        return dict(parse_json((folder / SOURCES).read_text(encoding="utf-8")))
    except (OSError, TypeError, ValueError):
        return {}
