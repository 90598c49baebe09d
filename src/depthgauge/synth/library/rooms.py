"""Rooms, one function each; the seed varies positions, colours and textures.

A room is a closed box with a table; y = 0 is the table's top. `ROOMS` lists them by name.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from depthgauge.errors import UnknownName
from depthgauge.synth.library import objects as objects
from depthgauge.synth.library.objects import Things, placed
from depthgauge.synth.scene import mesh as meshes
from depthgauge.synth.scene import texture as paints
from depthgauge.synth.scene.light import Light
from depthgauge.synth.scene.material import Material, Tiles, plain
from depthgauge.synth.scene.model import Scene, Stand, Thing

HALF_WIDTH_M, CEILING_M, FLOOR_M, BEHIND_M = 1.9, 1.7, 0.75, -1.0


def kitchen(seed: int = 0) -> Scene:
    """Pots, bottles, glasses and fruit in front of tiles and a window with a garden behind it."""
    rng = _generator(seed)
    wall = float(rng.uniform(1.75, 1.95))
    tone = _tint(rng, "#2f8f8a", "#c8763a", "#8a9a4a", "#b04a5a")
    things = _room(wall, _wood(seed), _tiles(), _plaster(seed, "#e6dfd0"), opening=_WINDOW)
    things += _window(wall, seed)
    x = _spots(rng, 5, 0.12)
    back = _spots(rng, 4, 0.05)
    things += placed(objects.pot("pot", objects.STEEL), x[0] * 0.42 - 0.10, _near(rng, 1.12), 25)
    things += placed(objects.pot("pan", objects.BRUSHED, 0.10, 0.07), 0.46, _near(rng, 1.42), 40)
    things += placed(objects.bottle("clear bottle", objects.CLEAR), back[0] * 0.5 + 0.02, 1.38)
    green = Material("tinted", (0.35, 0.75, 0.42))
    things += placed(objects.bottle("green bottle", green, 0.32), 0.18, _near(rng, 1.24))
    things += placed(objects.jar("jar", objects.CLEAR), -0.26, _near(rng, 0.86))
    things += placed(objects.tumbler("glass", objects.CLEAR), 0.10, _near(rng, 0.80))
    things += placed(objects.mug("mug", Material("ceramic", tone)), 0.30, _near(rng, 0.90), 200)
    things += placed(objects.bowl("bowl", Material("ceramic", (0.85, 0.84, 0.8))), 0.52, 1.08)
    things += placed(objects.fruit("orange", "#e08a1e", 0.038, seed + 3), 0.50, 1.07, y=-0.045)
    things += placed(objects.fruit("apple", "#a83226", 0.036, seed + 4), 0.575, 1.10, y=-0.05)
    things += placed(objects.carton("carton", (0.19, 0.29, 0.065), seed + 5), -0.60, 1.34, 18)
    things += placed(objects.rack("rack"), -0.56, _near(rng, 0.98), -20)
    crock = objects.vase("crock", objects.HAMMERED, 0.17)
    wood = Material("diffuse", paints.colour("#b98a55"))
    spoons = objects.spoons("spoons", wood, 3, seed + 6)
    things += placed([*crock, *spoons], -0.16, _near(rng, 1.45))
    return Scene("kitchen", tuple(things), _lights(wall), Stand(aim_m=1.25))


def bathroom(seed: int = 0) -> Scene:
    """A basin with a tap under a large mirror, bottles, a towel, a glass shelf."""
    rng = _generator(seed)
    wall = float(rng.uniform(1.45, 1.6))
    things = _room(wall, _marble(seed), _tiles("#d8e2e4", "#9fb4bc"), _plaster(seed, "#dfe6e6"))
    frame = Material("diffuse", paints.colour("#6b4a2f"), _grain(seed, "#4a3018", "#8a6038"), 0.4)
    mirror = objects.framed("mirror", (0.86, 0.58), objects.MIRROR, frame, 0.04)
    things += placed(mirror, float(rng.uniform(-0.1, 0.1)), wall - 0.02, y=-0.20)
    basin = objects.bowl("basin", Material("ceramic", (0.87, 0.87, 0.86)), 0.19)
    things += placed(basin, 0.16, 1.02)
    things += placed(objects.tap("tap", objects.STEEL), 0.16, 1.27)
    amber = Material("tinted", (0.85, 0.50, 0.18))
    things += placed(objects.bottle("amber bottle", amber, 0.19, 0.032), -0.22, _near(rng, 0.95))
    things += placed(
        objects.jar("frosted jar", objects.FROSTED, 0.11, 0.04), -0.36, _near(rng, 1.10)
    )
    things += placed(objects.tumbler("glass", objects.CLEAR), -0.10, _near(rng, 0.80))
    brushes = objects.spoons("brushes", plain("#3f7fb5"), 2, seed + 2)
    things += placed(brushes, -0.10, 0.80, y=-0.004)
    soap = objects.vase("soap dish", Material("ceramic", _tint(rng, "#2f6f8f", "#8f5f7f")), 0.10)
    things += placed(soap, 0.44, _near(rng, 0.86))
    things += placed(objects.bowl("tray", objects.BRUSHED, 0.09), -0.46, _near(rng, 0.86))
    things += placed(objects.fruit("sponge", "#d8b84a", 0.04, seed + 3), -0.46, 0.86, y=-0.012)
    things += placed(objects.towel("towel", seed + 4), 0.78, wall - 0.06, y=-0.62)
    rail = np.array([[0.5, 0.0, 0.0], [0.75, 0.0, 0.0], [1.05, 0.0, 0.0]])
    bar = Thing("rail", meshes.tube(rail, 0.008, 24), objects.STEEL)
    things += placed([bar], 0.0, wall - 0.06, y=-0.635)
    shelf = meshes.box(0.42, 0.008, 0.12)
    things += placed([Thing("glass shelf", shelf, objects.CLEAR)], -0.80, wall - 0.065, y=-0.30)
    things += placed(objects.mug("cup", Material("ceramic", (0.8, 0.8, 0.78))), -0.85, wall - 0.07)
    things += placed(objects.plant("plant", plain("#a0603c"), 9, seed + 5), -0.62, 1.22)
    return Scene("bathroom", tuple(things), _lights(wall), Stand(aim_m=1.15))


def desk(seed: int = 0) -> Scene:
    """Books, a lamp, a pane of glass, a standing mirror and vases on a desk."""
    rng = _generator(seed)
    wall = float(rng.uniform(2.1, 2.5))
    wood = _wood(seed, "#8a6848", "#b08a62", "#cfae86")
    things = _room(
        wall, wood, _plaster(seed + 1, "#b9c3c9"), _plaster(seed, "#d9d4c8"), table_m=1.45
    )
    pile = objects.books("books", 4, seed + 1)
    things += placed(pile, -0.40, _near(rng, 1.08), 10)
    things += placed(objects.lamp("lamp", objects.BRUSHED), 0.62, _near(rng, 1.25), 20)
    pane = objects.framed("glass pane", (0.34, 0.28), objects.CLEAR, plain("#2b2b30"), 0.014)
    things += placed(pane, 0.24, _near(rng, 1.28), 14)
    mirror = objects.framed(
        "standing mirror", (0.24, 0.32), objects.MIRROR, plain("#8a6a3a"), 0.018
    )
    things += placed(mirror, -0.10, _near(rng, 1.32), -18)
    things += placed(
        objects.plant("plant", Material("ceramic", _tint(rng, "#d0c8b8", "#4a6a8a")), 11, seed + 2),
        -0.72,
        _near(rng, 1.30),
    )
    holder = objects.tumbler("pen holder", objects.HAMMERED, 0.10, 0.04)
    pens = objects.spoons("pens", plain("#26415f"), 4, seed + 3)
    things += placed([*holder, *pens], 0.36, _near(rng, 0.92))
    things += placed(
        objects.mug("mug", Material("ceramic", _tint(rng, "#b5483a", "#3a7a5a"))),
        0.02,
        _near(rng, 0.84),
        150,
    )
    things += placed(objects.bottle("bottle", objects.CLEAR, 0.24, 0.034), -0.18, _near(rng, 0.96))
    blue = Material("tinted", (0.30, 0.50, 0.85))
    things += placed(objects.vase("blue vase", blue), 0.50, _near(rng, 1.02))
    things += placed(objects.jar("frosted jar", objects.FROSTED), 0.16, _near(rng, 0.98))
    things += placed(objects.vase("steel vase", objects.STEEL, 0.20), -0.64, _near(rng, 0.92))
    things += placed(objects.carton("carton", (0.13, 0.09, 0.10), seed + 4), 0.62, 0.86, -25)
    things += placed(objects.rack("rack", 0.26, 0.15, 8), 0.05, _near(rng, 1.12), 12)
    poster = paints.Agate(
        (paints.colour("#30405a"), paints.colour("#c96f3b"), paints.colour("#eadcc0")),
        paints.waves(seed + 6, 0.18, 2),
        paints.waves(seed + 7, 0.012, 3),
    )
    print_ = Material("diffuse", poster.tones[1], poster, 0.8)
    things += placed(
        [Thing("poster", meshes.box(0.7, 0.5, 0.006), print_)], 0.75, wall - 0.01, y=-0.15
    )
    return Scene("desk", tuple(things), _lights(wall), Stand(aim_m=1.35))


ROOMS: dict[str, Callable[[int], Scene]] = {
    "bathroom": bathroom,
    "desk": desk,
    "kitchen": kitchen,
}
"""All rooms by name."""
_CURTAIN = Material(
    "diffuse",
    paints.colour("#8a4a3a"),
    paints.Stripes((paints.colour("#a8503c"), paints.colour("#e6d3a8")), 0.25),
    1.0,
)
_WINDOW = (0.05, 0.95, 0.12, 0.85)
"""Left, right, lower and upper edge of the kitchen's window on the wall."""


def room_by_name(name: str, seed: int = 0) -> Scene:
    """One of `ROOMS`.

    Raises:
        UnknownName: There is no room of this name.
    """
    if name not in ROOMS:
        raise UnknownName(f"no capture scene {name!r}; known are {', '.join(sorted(ROOMS))}.")
    return ROOMS[name](seed)


def _generator(seed: int) -> np.random.Generator:
    return np.random.default_rng([seed, 71])


def _room(
    wall_m: float,
    top: Material,
    back: Material,
    sides: Material,
    *,
    opening: tuple[float, float, float, float] | None = None,
    table_m: float | None = None,
) -> Things:
    """A closed box with a table, which ends at the wall or at `table_m`."""
    w, up, down, front = HALF_WIDTH_M, -CEILING_M, FLOOR_M, BEHIND_M
    x, y, z = np.eye(3)
    tall, deep = down - up, wall_m - front
    things = [Thing("wall", _wall(wall_m, opening), back)]
    # u runs along the ground, v down, so that textures stand upright.
    left = meshes.rectangle((-w, up, front), deep * z, tall * y)
    right = meshes.rectangle((w, up, wall_m), -deep * z, tall * y)
    behind = meshes.rectangle((w, up, front), -2 * w * x, tall * y)
    things.append(Thing("side walls", _facing(meshes.join([left, right]), wall_m), sides))
    # Mirrors and metal show what is behind the cameras.
    things.append(Thing("curtain", _facing(behind, wall_m), _CURTAIN))
    ceiling = meshes.rectangle((-w, up, front), 2 * w * x, deep * z)
    things.append(Thing("ceiling", _facing(ceiling, wall_m), plain("#e8e6e0")))
    floor = meshes.rectangle((-w, down, front), 2 * w * x, deep * z)
    things.append(Thing("floor", _facing(floor, wall_m), plain("#6d6258")))
    ends = wall_m - 0.003 if table_m is None else table_m
    board = meshes.box(2 * w - 0.1, 0.035, ends - 0.25, 0.1).moved(y=0.035, z=(ends + 0.25) / 2)
    things.append(Thing("table", board, top))
    return things


def _wall(z: float, opening: tuple[float, float, float, float] | None) -> meshes.Mesh:
    """The wall that the cameras look at, with a hole where a window is."""
    w, up, down = HALF_WIDTH_M, -CEILING_M, FLOOR_M
    parts = [(-w, w, up, down)]
    if opening is not None:
        left, right, low, high = opening
        parts = [(-w, left, up, down), (right, w, up, down)]
        parts += [(left, right, up, -high), (left, right, -low, down)]
    flat = []
    for x0, x1, y0, y1 in parts:
        piece = meshes.rectangle((x0, y0, z), (0.0, y1 - y0, 0.0), (x1 - x0, 0.0, 0.0))
        # One texture over all pieces.
        uv = piece.vertices[:, :2] + (w, -up)
        flat.append(meshes.Mesh(piece.vertices, piece.triangles, piece.normals, uv))
    return _facing(meshes.join(flat), z)


def _facing(mesh: meshes.Mesh, wall_m: float) -> meshes.Mesh:
    """Walls whose normals point into the room."""
    middle = np.array([0.0, (FLOOR_M - CEILING_M) / 2, (wall_m + BEHIND_M) / 2])
    corners = mesh.vertices[mesh.triangles]
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    away = np.einsum("ij,ij->i", normal, middle - corners[:, 0]) < 0
    triangles = np.where(away[:, None], mesh.triangles[:, ::-1], mesh.triangles)
    outward = np.einsum("ij,ij->i", mesh.normals, middle - mesh.vertices) < 0
    normals = np.where(outward[:, None], -mesh.normals, mesh.normals)
    return meshes.Mesh(mesh.vertices, triangles.astype(np.int32), normals, mesh.uv)


def _window(wall_m: float, seed: int) -> Things:
    """A pane in a frame in the opening, and a garden behind it."""
    left, right, low, high = _WINDOW
    white = plain("#ece8e0")
    size = (right - left + 0.02, high - low + 0.02)
    window = objects.framed("window", size, objects.CLEAR, white, 0.045)
    things = placed(window, (left + right) / 2, wall_m + 0.01, y=-low + 0.01)
    leaves = paints.Mottled(
        (paints.colour("#27401c"), paints.colour("#5d8a3a"), paints.colour("#bcd8e8")),
        paints.waves(seed + 9, 0.05, 4),
    )
    garden = meshes.rectangle((-2.5, -2.2, wall_m + 1.0), (0.0, 3.0, 0.0), (6.0, 0.0, 0.0))
    things.append(Thing("garden", garden, Material("diffuse", leaves.tones[1], leaves, 2.0)))
    return things


def _lights(wall_m: float) -> tuple[tuple[Light, ...], ...]:
    """Illuminations: ceiling lamps, a window at the left, a warm lamp at the right, mixtures."""
    middle = wall_m / 2
    outside = Light(
        (0.5, -1.9, wall_m + 0.4), (0.4, -0.2, wall_m + 1.0), (1.5, 0.3), (6.0, 6.3, 7.0)
    )
    ceiling = Light((0.0, -1.66, middle), (0.0, 0.0, middle + 0.1), (1.2, 0.5), (5.0, 4.9, 4.6))
    day = Light((-1.85, -0.9, 0.7), (0.2, 0.0, 1.2), (0.9, 0.7), (5.0, 5.6, 6.6))
    warm = Light((1.75, -1.1, 0.4), (-0.1, 0.0, 1.2), (0.35, 0.35), (22.0, 15.0, 8.5))
    spot = Light((-0.7, -1.6, 0.2), (0.0, 0.0, 1.2), (0.25, 0.25), (34.0, 32.0, 28.0))
    dim = Light(ceiling.centre, ceiling.towards, ceiling.size_m, (1.4, 1.35, 1.25))
    return (
        (ceiling, outside),
        (day, dim, outside),
        (warm, dim),
        (ceiling, day, warm, outside),
        (spot, dim),
        (day, outside),
    )


def _near(rng: np.random.Generator, z: float) -> float:
    return z + float(rng.uniform(-0.025, 0.025))


def _spots(rng: np.random.Generator, count: int, spread: float) -> list[float]:
    return [float(v) for v in rng.uniform(-spread, spread, count)]


def _tint(rng: np.random.Generator, *codes: str) -> paints.Colour:
    return paints.colour(codes[int(rng.integers(len(codes)))])


def _wood(seed: int, *codes: str) -> Material:
    low, middle, high = (paints.colour(c) for c in (codes or ("#b28a60", "#d2ac7e", "#e8cda6")))
    boards = paints.Wood((low, middle, high), 0.12, paints.waves(seed + 11, 0.006, 4))
    return Material("diffuse", middle, boards, 0.96)


def _tiles(light: str = "#e4e2da", dark: str = "#b9b4a6") -> Material:
    return Material(
        "diffuse", paints.colour(light), Tiles(paints.colour(light), paints.colour(dark)), 0.8
    )


def _marble(seed: int) -> Material:
    tones = (paints.colour("#d9d4cc"), paints.colour("#f1eee8"), paints.colour("#8d8780"))
    stone = paints.Marble(tones, paints.waves(seed + 12, 0.02, 4), paints.waves(seed + 13, 0.15, 3))
    return Material("diffuse", tones[1], stone, 1.2)


def _plaster(seed: int, code: str) -> Material:
    tone = paints.colour(code)
    red, green, blue = tone
    dark, light = ((red * f, green * f, blue * f) for f in (0.86, 1.05))
    rough = paints.Mottled((dark, tone, light), paints.waves(seed + 14, 0.01, 5))
    return Material("diffuse", tone, rough, 1.0)


def _grain(seed: int, dark: str, light: str) -> paints.Paint:
    low, high = paints.colour(dark), paints.colour(light)
    middle = tuple((a + b) / 2 for a, b in zip(low, high, strict=True))
    tones = (low, (middle[0], middle[1], middle[2]), high)
    return paints.Wood(tones, 0.2, paints.waves(seed + 15, 0.005, 3))
