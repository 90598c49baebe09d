"""The plan of a room while it is furnished: walls, openings, things, tops to stand on, lamps.

The floor is y = 0 and heights are negative; x goes from -width / 2 to width / 2 and z from 0 to the
depth of the room. A plan may be flipped, which mirrors every place it is given.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from depthgauge.synth.library import finishes
from depthgauge.synth.library.objects import LIFT_M, Things
from depthgauge.synth.scene import mesh as meshes
from depthgauge.synth.scene.light import Light
from depthgauge.synth.scene.material import Material, plain
from depthgauge.synth.scene.model import Thing

WALL_M = 0.12
_GARDEN_M = 2.2
"""How far before a window the hedge stands."""
_LEAVES = ((0.02, 0.05, 0.01), (0.11, 0.25, 0.05), (0.45, 0.60, 0.30))


@dataclass(frozen=True, slots=True)
class Top:
    """A level rectangle on which objects may stand."""

    centre_m: tuple[float, float, float]
    """x, y, z of the middle; y is negative above the floor."""
    half_m: tuple[float, float]
    """Half of its size along x and z."""
    facing_deg: float
    """From where it is looked at: 0 from -z, 90 from -x, -90 from +x."""
    swing_deg: float = 50.0
    """How far to both sides of that a viewer may stand."""


@dataclass(frozen=True, slots=True, eq=False)
class Interior:
    """A furnished room without the small objects."""

    kind: str
    layout: int
    things: tuple[Thing, ...]
    tops: tuple[Top, ...]
    lamps: tuple[Light, ...]
    """Lamps at their usual brightness; the first one hangs from the ceiling."""
    size_m: tuple[float, float, float]
    """Width, height and depth."""
    outside: str = "garden"
    """The name of what stands before the windows; its tones are the environment's."""


@dataclass(frozen=True, slots=True)
class Opening:
    """A hole in a wall for a window: middle along the wall, height of its lower edge, size."""

    along_m: float
    low_m: float
    width_m: float
    height_m: float


@dataclass(slots=True, eq=False)
class Plan:
    """Collects what a room consists of."""

    kind: str
    layout: int
    rng: np.random.Generator
    size_m: tuple[float, float, float]
    flip: float = 1.0
    """-1 mirrors the room."""
    things: Things = field(default_factory=list)
    tops: list[Top] = field(default_factory=list)
    lamps: list[Light] = field(default_factory=list)

    @staticmethod
    def begin(kind: str, layout: int, number: int, smallest_m: tuple[float, float]) -> Plan:
        """An empty room of random size; `number` keeps kinds apart."""
        rng = np.random.default_rng([layout, number, 4711])
        wide, deep = (float(m + rng.uniform(0.0, 0.9)) for m in smallest_m)
        size = (wide, float(rng.uniform(2.4, 2.7)), deep)
        return Plan(kind, layout, rng, size, float(rng.choice([-1.0, 1.0])))

    def put(
        self, things: Things, x: float, z: float, turn_deg: float = 0.0, up_m: float = 0.0
    ) -> None:
        """Places things, `up_m` above the floor."""
        turn, x = self.flip * turn_deg, self.flip * x
        for t in things:
            mesh = t.mesh.turned(turn).moved(x, -up_m - LIFT_M, z)
            self.things.append(Thing(t.name, mesh, t.material))

    def top(
        self,
        x: float,
        z: float,
        up_m: float,
        half_m: tuple[float, float],
        facing_deg: float = 0.0,
        swing_deg: float = 50.0,
    ) -> None:
        """Declares a level rectangle for objects."""
        centre = (self.flip * x, -up_m, z)
        self.tops.append(Top(centre, half_m, self.flip * facing_deg, swing_deg))

    def lamp(self, x: float, z: float, side_m: float, radiance: float) -> None:
        """A flat lamp under the ceiling that shines down."""
        wide, up = self.flip * x, -self.size_m[1]
        housing = meshes.box(side_m + 0.04, 0.03, side_m + 0.04).moved(wide, up + 0.035, z)
        self.things.append(Thing(f"lamp {len(self.lamps) + 1}", housing, plain("#f4f2ee")))
        warm = (radiance, 0.95 * radiance, 0.86 * radiance)
        under = up + 0.036
        self.lamps.append(Light((wide, under, z), (wide, 0.0, z), (side_m, side_m), warm))

    def shell(
        self,
        floor: Material,
        walls: Material,
        back: Material,
        window: Opening | None,
        side_window: Opening | None = None,
    ) -> None:
        """Floor, ceiling and walls; a window in the back wall, one in the left wall."""
        wide, high, deep = self.size_m
        w = wide / 2
        if window is not None:
            window = Opening(
                self.flip * window.along_m, window.low_m, window.width_m, window.height_m
            )
        self._wall("back wall", back, window, _Wall((-w, deep), (1.0, 0.0), wide))
        self._wall("front wall", walls, None, _Wall((w, 0.0), (-1.0, 0.0), wide))
        left, right = _Wall((-w, 0.0), (0.0, 1.0), deep), _Wall((w, deep), (0.0, -1.0), deep)
        self._wall("left wall", walls, side_window if self.flip > 0 else None, left)
        self._wall("right wall", walls, side_window if self.flip < 0 else None, right)
        flat = meshes.rectangle((-w, 0.0, 0.0), (0.0, 0.0, deep), (wide, 0.0, 0.0))
        self.things.append(Thing("floor", _towards(flat, (0.0, -1.0, 0.0)), floor))
        above = meshes.rectangle((-w, -high, 0.0), (wide, 0.0, 0.0), (0.0, 0.0, deep))
        self.things.append(Thing("ceiling", _towards(above, (0.0, 1.0, 0.0)), plain("#e8e6e0")))

    def done(self) -> Interior:
        """The finished room."""
        return Interior(
            *(self.kind, self.layout, tuple(self.things), tuple(self.tops), tuple(self.lamps)),
            self.size_m,
        )

    def _wall(self, name: str, material: Material, window: Opening | None, wall: _Wall) -> None:
        high = self.size_m[1]
        parts = [(0.0, wall.length_m, 0.0, high)]
        if window is not None:
            left = wall.length_m / 2 + window.along_m - window.width_m / 2
            right, low = left + window.width_m, window.low_m
            top = low + window.height_m
            parts = [(0.0, left, 0.0, high), (right, wall.length_m, 0.0, high)]
            parts += [(left, right, 0.0, low), (left, right, top, high)]
            self._glaze(wall, (left + right) / 2, window)
        pieces = [wall.piece(*part) for part in parts]
        self.things.append(Thing(name, meshes.join(pieces), material))

    def _glaze(self, wall: _Wall, along: float, window: Opening) -> None:
        """A pane in a frame, the reveal around it, and a hedge some way before it."""
        number = sum(t.name.startswith("window") for t in self.things)
        name = f"window {number + 1}"
        wood, w, h = plain("#e9e5dc"), window.width_m, window.height_m
        bar, thick = 0.045, 0.05
        pane = meshes.box(w - 2 * bar - 0.001, h - 2 * bar - 0.001, 0.006, 0.2)
        bars = [meshes.box(bar, h, thick).moved(x=x) for x in (-(w - bar) / 2, (w - bar) / 2)]
        level = meshes.box(w - 2 * bar, bar, thick)
        bars += [level.moved(y=y) for y in (0.0, -h + bar)]
        pane = pane.moved(y=-bar - 0.0005)
        low = -window.low_m
        glass = finishes.glass(self.rng, clear=True)
        parts = ((name, pane, glass), (f"frame of {name}", meshes.join(bars), wood))
        for title, mesh, material in parts:
            self.things.append(Thing(title, wall.stood(mesh.moved(y=low), along), material))
        hedge = meshes.rectangle((-2.5, 0.6, _GARDEN_M), (5.0, 0.0, 0.0), (0.0, -3.4, 0.0))
        earth = meshes.rectangle((-2.5, 0.6, 0.05), (5.0, 0.0, 0.0), (0.0, 0.0, _GARDEN_M))
        leaves = finishes.hedge(_LEAVES, self.rng)
        for mesh, way in ((hedge, (0.0, 0.0, -1.0)), (earth, (0.0, -1.0, 0.0))):
            placed = wall.stood(_towards(mesh, way), along)
            self.things.append(Thing("garden", placed, leaves))


@dataclass(frozen=True, slots=True)
class _Wall:
    """An upright plane from a start along a direction; the room is to its right."""

    start_m: tuple[float, float]
    """x and z."""
    way: tuple[float, float]
    length_m: float

    def piece(self, left: float, right: float, low: float, high: float) -> meshes.Mesh:
        (x, z), (a, b) = self.start_m, self.way
        corner = (x + left * a, -high, z + left * b)
        edge = ((right - left) * a, 0.0, (right - left) * b)
        flat = meshes.rectangle(corner, edge, (0.0, high - low, 0.0), 0.25)
        uv = flat.uv + np.array([left, -high])
        flat = meshes.Mesh(flat.vertices, flat.triangles, flat.normals, uv)
        return _towards(flat, (b, 0.0, -a))

    def stood(self, mesh: meshes.Mesh, along: float) -> meshes.Mesh:
        """What was modelled before the back wall, moved to this wall; z points outside."""
        (x, z), (a, b) = self.start_m, self.way
        turn = np.degrees(np.arctan2(-b, a))
        return mesh.turned(float(turn)).moved(x + along * a, 0.0, z + along * b)


def _towards(mesh: meshes.Mesh, way: tuple[float, float, float]) -> meshes.Mesh:
    """A flat mesh whose normals point along a direction."""
    if float(mesh.normals[0] @ np.array(way)) > 0:
        return mesh
    return meshes.Mesh(mesh.vertices, mesh.triangles[:, ::-1].copy(), -mesh.normals, mesh.uv)
