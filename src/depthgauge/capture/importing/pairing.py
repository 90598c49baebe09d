"""Which photographs of several cameras were taken at once: by time, by name or by order."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from depthgauge.capture.importing.clocks import clock_offset, pairs_at
from depthgauge.capture.importing.options import ImportOptions
from depthgauge.capture.importing.sources import Photograph, by_camera, camera_named
from depthgauge.errors import BadData, Misuse
from depthgauge.sessions.session import natural

Photographs = Mapping[str, Sequence[Photograph]]
"""By camera."""


@dataclass(frozen=True, slots=True)
class Shot:
    """Photographs that were taken at once."""

    photographs: Mapping[str, Photograph]
    """By camera; some cameras may lack it."""
    apart_s: Mapping[str, float] = field(default_factory=dict)
    """How much later than the first camera's each one was taken, clocks corrected."""


@dataclass(frozen=True, slots=True)
class Pairing:
    """All shots in order, and how they were found."""

    how: str
    """`time`, `name` or `order`."""
    shots: tuple[Shot, ...]
    """Those of at least two cameras."""
    alone: tuple[Photograph, ...] = ()
    """Photographs without a partner."""
    offsets_s: Mapping[str, float] = field(default_factory=dict)
    """By time: how many seconds each clock is ahead of the first camera's."""
    notes: tuple[str, ...] = ()
    """One sentence each, for people."""


def pair_photographs(photographs: Photographs, options: ImportOptions) -> Pairing:
    """Finds what was taken at once.

    Args:
        photographs: Those of each camera, by name; at least two cameras, or one as `*` with a
            template of names.
        options: How.

    Raises:
        BadData: They cannot be paired in this way; the message says what can be done.
    """
    if "*" in photographs:
        photographs = _by_template(photographs, options)
    if len(photographs) < 2:
        raise BadData(
            f"only camera {next(iter(photographs))} has photographs; a session needs at least L "
            "and R: give L=FOLDER R=FOLDER."
        )
    if options.names and options.pair not in ("auto", "name"):
        raise Misuse(f"a template of names pairs by name, not by {options.pair}; leave one out")
    if options.names or options.pair == "name":
        return _checked_by_times(by_name(photographs, options.names), options)
    if options.pair == "time":
        return by_time(photographs, options)
    if options.pair == "order":
        return _checked_by_times(by_order(photographs), options)
    return _automatic(photographs, options)


def _automatic(photographs: Photographs, options: ImportOptions) -> Pairing:
    """Times say most; equal names and equal numbers of photographs may be accidents."""
    ways: list[Callable[[], Pairing]] = [
        lambda: by_time(photographs, options),
        lambda: _most(by_name(photographs, None), photographs),
        lambda: by_order(photographs),
    ]
    reasons = []
    for way in ways:
        try:
            found = way()
        except BadData as error:
            reasons.append(str(error).rstrip("."))
            continue
        said = f"paired by {found.how}; --pair {_others(found.how)} would force another way"
        return Pairing(
            found.how, found.shots, found.alone, found.offsets_s, (*found.notes, f"{said}.")
        )
    raise BadData(
        f"the photographs cannot be paired ({by_camera(photographs)}): {'; '.join(reasons)}."
    )


def _others(how: str) -> str:
    return " or ".join(way for way in ("time", "name", "order") if way != how)


def by_time(photographs: Photographs, options: ImportOptions) -> Pairing:
    """Photographs of the same moment; the difference of the clocks is found, unless given."""
    everything = [photo for found in photographs.values() for photo in found]
    without = [photo.path.name for photo in everything if photo.exif.taken_s is None]
    if without:
        raise BadData(
            f"{len(without)} of {len(everything)} photographs have no time in their EXIF "
            f"(such as {without[0]}); pair them by name or order."
        )
    fine = all(photo.exif.has_fraction for photo in everything)
    within = options.within_s or (0.5 if fine else 1.0)
    given = _given_offsets(options.clock_offsets, photographs)
    first, *others = photographs
    times = {
        camera: np.array([photo.exif.taken_s for photo in found], np.float64)
        for camera, found in photographs.items()
    }
    partners: dict[int, dict[str, int]] = {i: {} for i in range(len(photographs[first]))}
    offsets, notes = {}, []
    for camera in others:
        if camera in given:
            fit = pairs_at(times[first], times[camera], given[camera], within)
            offset = given[camera]
        else:
            fit = clock_offset(list(times[first]), list(times[camera]), within)
            offset = fit.offset_s
        if not fit.pairs:
            raise BadData(
                f"no photograph of {camera} was taken within {within:g} s of one of {first} with "
                f"a clock offset of {offset:g} s."
            )
        offsets[camera] = offset
        notes.append(
            f"the clock of {camera} is {offset:+.2f} s ahead of {first}'s; {len(fit.pairs)} pairs "
            f"agree within {fit.worst_s:.2f} s."
        )
        for i, j in fit.pairs:
            partners[i][camera] = j
    order = sorted(partners, key=lambda i: times[first][i])
    shots = []
    for i in order:
        if partners[i]:
            found = {first: photographs[first][i]}
            found |= {camera: photographs[camera][j] for camera, j in partners[i].items()}
            apart = {
                camera: float(times[camera][j] - offsets[camera] - times[first][i])
                for camera, j in partners[i].items()
            }
            shots.append(Shot(found, apart))
    return _complete("time", shots, photographs, offsets, notes)


def by_name(photographs: Photographs, template: str | None) -> Pairing:
    """Photographs whose names, or the parts that a template calls `{shot}`, are equal."""
    found: dict[str, dict[str, Photograph]] = {}
    for camera, photos in photographs.items():
        for photo in photos:
            name = _shot_of(photo, template)
            other = found.setdefault(name, {}).setdefault(camera, photo)
            if other is not photo:
                raise BadData(
                    f"{photo.path} and {other.path.name} are the same shot '{name}' of camera "
                    f"{camera}; remove one, or give a template with --names."
                )
    shots = [Shot(found[name]) for name in sorted(found, key=natural) if len(found[name]) > 1]
    if not shots:
        first = [found[0].path.stem for found in photographs.values()]
        raise BadData(
            f"no two cameras have a photograph of the same name (they begin with "
            f"{', '.join(first)}); give a template such as --names 'IMG_{{shot}}'."
        )
    return _complete("name", shots, photographs, {}, [])


def by_order(photographs: Photographs) -> Pairing:
    """The first photographs of all cameras, the second ones, and so on; equally many of each."""
    counts = {len(found) for found in photographs.values()}
    if len(counts) > 1:
        raise BadData(f"cameras have different numbers of photographs ({by_camera(photographs)}).")
    ordered = {camera: _in_order(found) for camera, found in photographs.items()}
    shots = [
        Shot(dict(zip(ordered, row, strict=True))) for row in zip(*ordered.values(), strict=True)
    ]
    return _complete("order", shots, photographs, {}, [])


def _in_order(found: Sequence[Photograph]) -> list[Photograph]:
    """By time, since counters of cameras start over; by name where a time is missing."""
    if any(photo.exif.taken_s is None for photo in found):
        return list(found)
    return sorted(found, key=lambda photo: float(photo.exif.taken_s or 0.0))


def _most(pairing: Pairing, photographs: Photographs) -> Pairing:
    """Rejects names that agree by accident: most photographs must have a partner."""
    if 2 * len(pairing.alone) > sum(len(found) for found in photographs.values()):
        raise BadData("most photographs have no partner of the same name.")
    return pairing


def _complete(
    how: str,
    shots: Sequence[Shot],
    photographs: Photographs,
    offsets: Mapping[str, float],
    notes: Sequence[str],
) -> Pairing:
    used = {photo.path for shot in shots for photo in shot.photographs.values()}
    alone = [p for found in photographs.values() for p in found if p.path not in used]
    return Pairing(how, tuple(shots), tuple(alone), dict(offsets), tuple(notes))


def _checked_by_times(pairing: Pairing, options: ImportOptions) -> Pairing:
    """Adds a note where the photographs' times contradict the pairs."""
    cameras = list(dict.fromkeys(c for shot in pairing.shots for c in shot.photographs))
    notes = list(pairing.notes)
    for camera in cameras[1:]:
        apart = np.array(
            [
                shot.photographs[camera].exif.taken_s - shot.photographs[cameras[0]].exif.taken_s  # type: ignore[operator]
                for shot in pairing.shots
                if {camera, cameras[0]} <= set(shot.photographs)
                and all(shot.photographs[c].exif.taken_s is not None for c in (camera, cameras[0]))
            ]
        )
        limit = options.within_s or 2.0
        if len(apart) > 1 and (off := int((np.abs(apart - np.median(apart)) > limit).sum())):
            notes.append(
                f"by their times, {off} of {len(apart)} pairs of {cameras[0]} and {camera} were "
                "not taken at once; look at the contact sheet, or try --pair time."
            )
    return Pairing(pairing.how, pairing.shots, pairing.alone, pairing.offsets_s, tuple(notes))


def _by_template(photographs: Photographs, options: ImportOptions) -> Photographs:
    """Photographs of one folder, divided by the part of their names that says the camera."""
    mixed = photographs["*"]
    if options.names is None or "{camera}" not in options.names:
        raise BadData(
            f"{mixed[0].path.parent}: it is not clear which camera took these; give L=FOLDER "
            "R=FOLDER, or a template such as --names '{camera}_{shot}'."
        )
    pattern, found = _template(options.names), {k: list(v) for k, v in photographs.items()}
    del found["*"]
    for photo in mixed:
        match = pattern.fullmatch(photo.path.stem)
        camera = camera_named(match["camera"]) if match else None
        if camera is None:
            raise BadData(
                f"{photo.path}: its name does not fit --names '{options.names}' with a camera L, "
                "C or R (left, centre, right)."
            )
        found.setdefault(camera, []).append(Photograph(camera, photo.path, photo.exif))
    return {camera: found[camera] for camera in ("L", "C", "R") if camera in found}


def _shot_of(photo: Photograph, template: str | None) -> str:
    if template is None:
        return photo.path.stem
    match = _template(template).fullmatch(photo.path.stem)
    if match is None:
        raise BadData(f"{photo.path}: its name does not fit --names '{template}'.")
    return match["shot"]


def _template(template: str) -> re.Pattern[str]:
    """`{camera}_{shot}` as a regular expression; `*` is anything."""
    if template.count("{shot}") != 1 or template.count("{camera}") > 1:
        raise Misuse(f"a template of names has {{shot}} once, found '{template}'")
    parts = re.split(r"(\{shot\}|\{camera\}|\*)", template)
    known = {"{shot}": "(?P<shot>.+)", "{camera}": "(?P<camera>[A-Za-z]+)", "*": ".*"}
    return re.compile("".join(known.get(part, re.escape(part)) for part in parts))


def _given_offsets(text: str | None, photographs: Photographs) -> dict[str, float]:
    if text is None:
        return {}
    found = {}
    for part in text.split(","):
        camera, _, seconds = part.strip().partition(":")
        try:
            found[camera.strip().upper()] = float(seconds)
        except ValueError:
            raise Misuse(f"clock offsets are like R:3599.5,C:-2, found '{text}'") from None
    if wrong := set(found) - set(list(photographs)[1:]):
        raise Misuse(f"clock offsets are of cameras other than the first, found {min(wrong)}")
    return found
