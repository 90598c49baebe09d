"""Turns the normals of planes so that the stated relations between them hold exactly."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from depthgauge.annotate.reconstruct._orthogonal_frames import (
    RayConstraint,
    frame_from_colours,
    nearest_orthogonal,
)
from depthgauge.annotate.reconstruct._relation_logic import (
    Groups,
    can_hold,
    contradiction,
    grouped,
    neighbours,
    three_colours,
)
from depthgauge.annotate.records.annotation import Relation, Vector

Array = NDArray[np.float64]

_AXIS: Vector = (0.0, 0.0, 1.0)
"""The viewing ray through the middle of the image."""
_EDGE_ON = 1e-12
"""Up to this cosine between normal and ray, a plane counts as edge-on."""
_RELEASED = 8
"""If at most this many normals are held edge-on, each is released on trial."""
_EXPLAINED = 5
"""At most this many contradictions are explained; the others name the relation left out."""


@dataclass(frozen=True)
class ConsistentNormals:
    """Normals for which the relations hold."""

    normals: Mapping[str, Vector]
    """Unit vectors of the given surfaces; values without a direction stay unchanged."""
    notes: tuple[str, ...] = ()
    """Sentences for the annotator: contradicting relations, normals that had to stop."""


def faces_away(normal: NDArray[np.float64] | Vector, ray: NDArray[np.float64] | Vector) -> bool:
    """Whether a surface with this normal is invisible along this ray.

    In perspective this is not the sign of z: a floor below the horizon may have either sign.

    >>> faces_away((0.0, -1.0, 0.1), (0.0, 0.0, 1.0))
    True
    >>> faces_away((0.0, -1.0, 0.1), (0.0, 0.3, 1.0))
    False
    """
    return bool(np.dot(normal, ray) > _EDGE_ON)


def consistent_normals(
    normals: Mapping[str, Vector],
    relations: Iterable[Relation],
    rays: Mapping[str, Vector] | None = None,
) -> ConsistentNormals:
    """The nearest set of normals in which parallel and orthogonal hold up to rounding.

    Nearest means the least sum of squared differences of unit vectors. Parallel allows opposite
    normals, as of two walls that face each other. Relations that contradict earlier ones are left
    out, and a note names a smallest contradictory set. A normal that faced the viewer never faces
    away: at most it becomes edge-on, and a note says so. Those are found one after the other, so a
    nearer set may exist if normals are wrong by half a right angle.

    Args:
        normals: Normals of planar surfaces, by name; of any length.
        relations: Between those names, in the order in which they were made.
        rays: Viewing rays of the marks, by name; a normal faces the viewer along its ray. For
            names without one it is the viewing axis, so the sign of z decides.

    >>> walls = {"left": (0.8, 0.0, -0.6), "right": (-0.6, 0.1, -0.8)}
    >>> turned = consistent_normals(walls, [Relation("left", "right", "orthogonal")]).normals
    >>> bool(abs(np.dot(turned["left"], turned["right"])) < 1e-12)
    True
    """
    units = {name: unit for name, normal in normals.items() if (unit := _unit(normal)) is not None}
    notes: list[str] = []
    usable = _usable(units, normals, relations, notes)
    kept = _without_contradictions(list(units), usable, notes)
    notes += _denied(list(units), usable, kept)
    turned = dict(normals)
    seen = {name: _ray(name, rays or {}) for name in units}
    for names in _webs(list(units), kept):
        inside = [r for r in kept if r.first in names]
        turned |= _turned({name: units[name] for name in names}, inside, seen, notes)
    return ConsistentNormals(turned, tuple(notes))


def _ray(name: str, rays: Mapping[str, Vector]) -> Vector:
    unit = _unit(rays.get(name, _AXIS))
    return _AXIS if unit is None else _vector(unit)


def _unit(normal: Vector) -> Array | None:
    vector = np.array(normal, np.float64)
    if vector.shape != (3,) or not np.isfinite(vector).all() or not vector.any():
        return None
    vector = vector / np.abs(vector).max()  # squares of extreme numbers are 0 or infinite
    return np.asarray(vector / np.linalg.norm(vector))


def _usable(
    units: Mapping[str, Array],
    normals: Mapping[str, Vector],
    relations: Iterable[Relation],
    notes: list[str],
) -> list[Relation]:
    usable = []
    for relation in relations:
        lacking = [name for name in (relation.first, relation.second) if name not in units]
        if lacking:
            found = "has no usable normal" if lacking[0] in normals else "has no normal"
            notes.append(f"{_said(relation)}: '{lacking[0]}' {found}, so it was not used.")
        elif relation.first == relation.second:
            if relation.kind == "orthogonal":
                notes.append(f"{_said(relation)}: relates a surface to itself and was not used.")
        else:
            usable.append(relation)
    return usable


def _without_contradictions(
    names: list[str], relations: list[Relation], notes: list[str]
) -> list[Relation]:
    """Leaves out each relation that contradicts those before it."""
    kept = [relation for relation in relations if relation.kind != "neither"]
    settled = 0
    found = 0
    while not can_hold(names, kept):
        settled = _first_bad(names, kept, settled)
        found += 1
        notes.append(_contradicts(names, kept[: settled + 1], explain=found <= _EXPLAINED))
        del kept[settled]
    return kept


def _first_bad(names: list[str], relations: list[Relation], settled: int) -> int:
    """The first relation that contradicts those before it; all up to `settled` are consistent."""
    low, high = settled, len(relations) - 1
    while low < high:
        middle = (low + high) // 2
        if can_hold(names, relations[: middle + 1]):
            low = middle + 1
        else:
            high = middle
    return low


def _contradicts(names: list[str], relations: list[Relation], *, explain: bool) -> str:
    last = _said(relations[-1])
    if not explain:
        return f"{last}: contradicts earlier relations and was not used; correct one of them."
    together = contradiction(names, relations)
    said = ", ".join(_said(relation) for relation in together)
    return f"These relations cannot all hold: {said}; the last was not used, correct one of them."


def _said(relation: Relation) -> str:
    return f"'{relation.first}' {relation.kind} '{relation.second}'"


def _denied(names: list[str], relations: list[Relation], kept: list[Relation]) -> list[str]:
    """`neither` for two planes that other relations make parallel or orthogonal."""
    groups = grouped(names, kept)
    denied = [r for r in relations if r.kind == "neither" and _follows(r, groups)]
    return [
        f"{_said(r)}: other relations make them parallel or orthogonal; correct one of them."
        for r in denied
    ]


def _follows(relation: Relation, groups: Groups) -> bool:
    i, j = groups.of[relation.first], groups.of[relation.second]
    return i == j or (min(i, j), max(i, j)) in groups.pairs


def _webs(names: list[str], relations: Sequence[Relation]) -> list[list[str]]:
    """Planes that relations connect, directly or through others; each web is solved by itself."""
    links = [Relation(r.first, r.second, "parallel") for r in relations]
    webs: dict[int, list[str]] = {}
    for name, number in grouped(names, links).of.items():
        webs.setdefault(number, []).append(name)
    return list(webs.values())


def _turned(
    units: Mapping[str, Array],
    relations: list[Relation],
    rays: Mapping[str, Vector],
    notes: list[str],
) -> dict[str, Vector]:
    """The nearest consistent normals of one web; without any, the latest relation is dropped."""
    relations = list(relations)
    while relations:
        found = _solved(units, relations, rays)
        if found is not None:
            notes += _held_note(found, units, rays)
            return {name: _vector(vector) for name, vector in found.turned.items()}
        notes.append(
            f"{_said(relations[-1])}: holds only with a normal that faces away from the viewer, "
            "so it was not used; correct the normals or the relation."
        )
        del relations[-1]
    return {name: _vector(unit) for name, unit in units.items()}


@dataclass(frozen=True)
class _Solution:
    turned: dict[str, Array]
    held: frozenset[RayConstraint]


def _solved(
    units: Mapping[str, Array], relations: Sequence[Relation], rays: Mapping[str, Vector]
) -> _Solution | None:
    groups = grouped(list(units), relations)
    signs = _first_signs(units, groups)
    facing = [name for name, unit in units.items() if not faces_away(unit, rays[name])]
    found = _placed(units, signs, groups, frozenset())
    while found is not None:
        worst: dict[int, tuple[float, Vector]] = {}
        for name in facing:
            cosine = float(found.turned[name] @ rays[name])
            if faces_away(found.turned[name], rays[name]):
                group = groups.of[name]
                worst[group] = max(worst.get(group, (0.0, _AXIS)), (cosine, rays[name]))
        if not worst:
            return _released(found, units, signs, groups, facing, rays)
        more = found.held | {(group, ray) for group, (_, ray) in worst.items()}
        found = _placed(units, signs, groups, more) if more != found.held else None
    return None


def _placed(
    units: Mapping[str, Array],
    signs: Mapping[str, float],
    groups: Groups,
    held: frozenset[RayConstraint],
) -> _Solution | None:
    axes = _axes(units, signs, groups, sorted(held))
    if axes is None:
        return None
    return _Solution({name: signs[name] * axes[groups.of[name]] for name in units}, held)


def _released(
    found: _Solution,
    units: Mapping[str, Array],
    signs: Mapping[str, float],
    groups: Groups,
    facing: list[str],
    rays: Mapping[str, Vector],
) -> _Solution:
    """Releases normals that no longer have to be held edge-on."""
    if not 1 < len(found.held) <= _RELEASED:
        return found
    for one in sorted(found.held):
        fewer = _placed(units, signs, groups, found.held - {one})
        if fewer and not any(faces_away(fewer.turned[name], rays[name]) for name in facing):
            found = fewer
    return found


def _first_signs(units: Mapping[str, Array], groups: Groups) -> dict[str, float]:
    """1 for normals on one side of their group's axis, -1 for those on the other."""
    spread = np.zeros((groups.count, 3, 3))
    for name, unit in units.items():
        spread[groups.of[name]] += np.outer(unit, unit)
    axes = np.linalg.eigh(spread)[1][:, :, -1]
    axes = np.where(axes[:, 2:] > 0, -axes, axes)
    return {n: 1.0 if unit @ axes[groups.of[n]] >= 0 else -1.0 for n, unit in units.items()}


def _axes(
    units: Mapping[str, Array],
    signs: Mapping[str, float],
    groups: Groups,
    held: list[RayConstraint],
) -> Array | None:
    wanted = np.zeros((groups.count, 3))
    for name, unit in units.items():
        wanted[groups.of[name]] += signs[name] * unit
    colours = three_colours(neighbours(groups.count, groups.pairs))
    starts = [] if colours is None or not groups.pairs else [frame_from_colours(wanted, colours)]
    axes = nearest_orthogonal(wanted, groups.pairs, held, starts)
    if axes is not None:
        for group, ray in held:  # to the last bit, if possible
            axes[group] -= (axes[group] @ ray) * np.array(ray)
    return axes


def _held_note(
    found: _Solution, units: Mapping[str, Array], rays: Mapping[str, Vector]
) -> list[str]:
    if not found.held:
        return []
    edge_on = [name for name in units if abs(found.turned[name] @ rays[name]) <= 1e-9]
    listed = ", ".join(f"'{name}'" for name in edge_on)
    return [
        f"The relations would turn a normal away from the viewer, so {listed} are edge-on; "
        "check these normals and their relations."
    ]


def _vector(array: Array) -> Vector:
    x, y, z = (float(value) / math.sqrt(float(array @ array)) for value in array)
    return x, y, z
