"""What is photographed: things on a table with stickers on them, before and after they are moved.

Each thing is put on the table once; its motion says where it is afterwards. A sticker is a thin
rectangle that has the name of what it sticks to, so both move together.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from depthgauge.sessions.tags import TAG_CORNERS, TAG_COUNT
from depthgauge.synth.library.objects import LIFT_M, Things, placed
from depthgauge.synth.scene import mesh as meshes
from depthgauge.synth.scene.frame import Triple
from depthgauge.synth.scene.material import Material, kind_of
from depthgauge.synth.scene.mesh import Mesh
from depthgauge.synth.scene.model import Scene, Thing
from depthgauge.synth.scene.motion import Chain, Motion, Moving, Turning

Floats = NDArray[np.float64]

STICKER = 1.25
"""Side of a sticker in sides of its tag: the white border is one of ten cells."""
PAPER = Material("diffuse", (0.80, 0.80, 0.80))
BEFORE_S, AFTER_S = 0.0, 1.0
"""When the scene is as it was, and when it has been rearranged."""
_APART = 1.12
"""Distance between stickers, in sides of a sticker: they are turned a little."""
_TURN_DEG = 5.0
_SMALLEST = 0.75
"""A tag is made smaller by up to this factor to fit onto a face."""


@dataclass(frozen=True, slots=True)
class Face:
    """A flat part of a thing that stickers can be put on; `right` and `down` as seen from outside.

    Its outside is in the direction of `down` x `right`.
    """

    words: str
    centre: Triple
    size_m: tuple[float, float]
    """Along `right` and `down`."""
    material: Material
    right: Triple = (1.0, 0.0, 0.0)
    down: Triple = (0.0, 1.0, 0.0)
    most: int = 4
    """Stickers that are put on it, where there is room."""


def box_faces(
    name: str, size_m: tuple[float, float, float], material: Material, front: int = 4, top: int = 0
) -> list[Face]:
    """The front and the top of a box that stands at the origin."""
    w, h, d = size_m
    inside = 0.96
    faces = [
        Face(
            *(f"front of the {name}", (0, -h / 2, -d / 2), (inside * w, inside * h), material),
            most=front,
        ),
        Face(
            *(f"top of the {name}", (0, -h, 0), (inside * w, inside * d), material),
            down=(0.0, 0.0, -1.0),
            most=top,
        ),
    ]
    return [face for face in faces if face.most]


@dataclass(frozen=True, slots=True)
class Sticker:
    """A tag on a thing."""

    identity: int
    size_m: float
    """Side of the tag."""
    material: str
    """Of what it sticks to: one of `MATERIALS`."""
    words: str
    """What it sticks to."""
    thing: int
    """Index into the things of the scene."""


def tag_corners(mesh: Mesh) -> Floats:
    """The corners (4, 3) of the tag on a sticker, in the order of `TAG_CORNERS`."""
    corner, right, down = mesh.vertices[0], mesh.vertices[1], mesh.vertices[2]
    border = (1 - 1 / STICKER) / 2
    x, y = (border + np.array(TAG_CORNERS).T / STICKER)[:, :, None]
    found: Floats = corner + x * (right - corner) + y * (down - corner)
    return found


@dataclass(slots=True)
class Table:
    """Collects the things of one object of a session."""

    rng: np.random.Generator
    tag_m: float
    """Side of a small tag."""
    _things: Things = field(default_factory=list)
    _stickers: list[tuple[Thing, Sticker]] = field(default_factory=list)
    _motions: dict[str, Motion] = field(default_factory=dict)
    _free: Iterator[int] = field(init=False)

    def __post_init__(self) -> None:
        self._free = iter(self.rng.permutation(TAG_COUNT).tolist())

    def fix(self, things: Things, faces: Sequence[Face] = ()) -> None:
        """Adds things that stay where they are; the faces belong to the first."""
        self._add(things, self._covered(things[0].name, faces))

    def put(
        self,
        things: Things,
        at: tuple[float, float],
        turn_deg: float = 0.0,
        *,
        faces: Sequence[Face] = (),
        shift_m: float = 0.03,
        spin_deg: float = 10.0,
        y: float = 0.0,
    ) -> None:
        """Puts things that stand at the origin onto the table; later they move together.

        Args:
            things: The first has the faces.
            at: x and z.
            turn_deg: How they are turned about their axis.
            faces: What stickers are put on, in coordinates of the things.
            shift_m: How far they move along x and z, at most; at least half of it.
            spin_deg: How far they turn, at most; at least half of it.
            y: Height of what they stand on, negative above the table.
        """
        x, z = (float(v + self.rng.uniform(-0.01, 0.01)) for v in at)
        turn = turn_deg + float(self.rng.uniform(-4, 4))
        made = [(placed([s], x, z, turn, y)[0], n) for s, n in self._covered(things[0].name, faces)]
        self._add(placed(things, x, z, turn, y), made)
        far = self.rng.uniform(0.5, 1.0, 3) * self.rng.choice([-1.0, 1.0], 3)
        spin = Turning(spin_deg * float(far[0]), "y", (x, 0.0, z))
        move = Moving((shift_m * float(far[1]), 0.0, shift_m * float(far[2])))
        self._motions |= dict.fromkeys((t.name for t in things), Chain((spin, move)))

    def scene(self, name: str, *, tags: bool = True) -> tuple[Scene, tuple[Sticker, ...]]:
        """The scene and its stickers, which come after everything else; or without them."""
        stickers = self._stickers if tags else []
        things = (*self._things, *(thing for thing, _ in stickers))
        count = len(self._things)
        numbered = tuple(
            Sticker(s.identity, s.size_m, s.material, s.words, count + n)
            for n, (_, s) in enumerate(stickers)
        )
        return Scene(name, things, (), motions=self._motions), numbered

    def _add(self, things: Things, stickers: list[tuple[Thing, Sticker]]) -> None:
        self._things += things
        self._stickers += stickers

    def _covered(self, name: str, faces: Sequence[Face]) -> list[tuple[Thing, Sticker]]:
        return [made for face in faces for made in self._stick(name, face)]

    def _stick(self, name: str, face: Face) -> Iterator[tuple[Thing, Sticker]]:
        """Stickers in some cells of a grid on a face."""
        least = min(face.size_m)
        size = self.tag_m * float(self.rng.choice([1.0, 1.25, 1.5]))
        fits = least / (STICKER * _APART)
        size = min(size, fits)
        if size < _SMALLEST * self.tag_m:
            return
        pitch = size * STICKER * _APART
        columns, rows = (int(side / pitch + 1e-9) for side in face.size_m)
        cells = self.rng.permutation(columns * rows)[: face.most]
        right, down = np.array(face.right), np.array(face.down)
        slack = [side / n - pitch for side, n in zip(face.size_m, (columns, rows), strict=True)]
        for cell in cells.tolist():
            row, column = divmod(cell, columns)
            aside = (
                ((n + 0.5) / count - 0.5) * side + float(self.rng.uniform(-0.5, 0.5)) * free
                for n, count, side, free in zip(
                    (column, row), (columns, rows), face.size_m, slack, strict=True
                )
            )
            x, y = aside
            middle = np.array(face.centre) + x * right + y * down
            yield self._sticker(name, face, middle, size)

    def _sticker(self, name: str, face: Face, middle: Floats, size: float) -> tuple[Thing, Sticker]:
        turn = 90.0 * int(self.rng.integers(4)) + float(self.rng.uniform(-_TURN_DEG, _TURN_DEG))
        c, s = np.cos(np.radians(turn)), np.sin(np.radians(turn))
        right, down = np.array(face.right), np.array(face.down)
        right, down = c * right + s * down, c * down - s * right
        side = STICKER * size
        corner = middle - side / 2 * (right + down) + LIFT_M * np.cross(down, right)
        # The first edge is the one that the normal's sign asks for.
        mesh = meshes.rectangle(corner, side * down, side * right, cell_m=side * 1.01)
        note = Sticker(next(self._free), size, kind_of(face.material), face.words, -1)
        return Thing(name, mesh, PAPER), note
