"""What shots are called in a session."""

from __future__ import annotations

from collections.abc import Sequence

from depthgauge.capture.importing.pairing import Shot
from depthgauge.errors import BadData, Misuse


def shot_names(kind: str, shots: Sequence[Shot], brackets: int | None) -> tuple[str, ...]:
    """`im0` ... of passive photographs, else `000` ...; of brackets `000@0.004`, `000@0.016` ...

    Args:
        kind: What they show.
        shots: In order.
        brackets: Shots in a row that are exposures of one pattern; None if each is its own.

    Raises:
        Misuse: Photographs other than patterns are bracketed.
        BadData: Exposure times are missing, equal or different between cameras, or a bracket is
            not complete.
    """
    if brackets is None:
        return tuple(f"im{n}" if kind == "passive" else f"{n:03d}" for n in range(len(shots)))
    if kind != "pattern":
        raise Misuse(f"only patterns can be bracketed, not {kind}; leave out --brackets")
    if len(shots) % brackets:
        raise BadData(
            f"{len(shots)} shots cannot be brackets of {brackets}; look at the contact sheet "
            "(--sheet-only without --brackets) for the one that is missing."
        )
    names = tuple(f"{n // brackets:03d}@{_exposure(shot)}" for n, shot in enumerate(shots))
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise BadData(
            f"two shots of pattern {twice.partition('@')[0]} have the same exposure of "
            f"{twice.partition('@')[2]} s; check the number of --brackets."
        )
    return names


def _exposure(shot: Shot) -> str:
    """Seconds, as text for a file's name."""
    found = {photo.exif.exposure_s for photo in shot.photographs.values()}
    first = next(iter(shot.photographs.values())).path
    if None in found:
        raise BadData(
            f"{first}: there is no exposure time in the EXIF of this shot; name photographs "
            "<pattern>@<exposure> by hand."
        )
    seconds = {f"{exposure:.6f}".rstrip("0") for exposure in found}
    if len(seconds) > 1:
        raise BadData(
            f"{first}: cameras have different exposures of this shot ({', '.join(sorted(seconds))} "
            "s); set them alike, or name photographs <pattern>@<exposure> by hand."
        )
    return seconds.pop()
