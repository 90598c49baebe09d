"""Eight scenes of shapes, one function each."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from depthgauge.synth.library.shapes import (
    agate,
    ball,
    bar,
    box,
    column,
    floor,
    marble,
    panel,
    roll,
    stone,
    wall,
    wood,
)
from depthgauge.synth.scene.model import ShapeScene
from depthgauge.synth.scene.texture import Checks, Paint, Plain, Stripes, colour

_LAMP = (-0.55, -1.0, -0.55)


def slanted() -> ShapeScene:
    """Boards that lean in all directions between two slanted walls."""
    return ShapeScene(
        things=(
            floor(wood("#6d4a2f #9c6f47 #c9a271", 1, 0.016, 0.22)),
            wall((0.0, 4.6), 24.0, stone("#7d8f9c #aebcc4 #dfe5e6", 2, 0.05)),
            wall((2.3, 3.4), -52.0, stone("#a98f86 #cdb5aa #ecdfd6", 3, 0.05)),
            panel(
                (-0.95, -0.66, 2.75),
                (0.5, -0.45, -1.0),
                (0.40, 0.60),
                agate("#1f4e5f #3f8a8c #e9d8a6", 4, 0.022),
            ),
            panel(
                (-0.12, -0.50, 2.25),
                (-0.25, -0.75, -1.0),
                (0.36, 0.44),
                stone("#7a1f2b #d1495b #f4d6c6", 5, 0.018),
            ),
            panel(
                (0.62, -0.72, 2.9),
                (-0.9, -0.2, -1.0),
                (0.38, 0.70),
                agate("#23395b #5b7db1 #e6ecf5", 6, 0.022),
            ),
            panel(
                (0.90, -0.31, 2.15),
                (-0.55, -1.1, -1.0),
                (0.26, 0.30),
                stone("#b5651d #f2a541 #fff1cf", 7, 0.016),
            ),
            panel(
                (-0.62, -0.15, 1.85),
                (0.35, -2.0, -0.7),
                (0.26, 0.20),
                stone("#2d4a32 #6a994e #dfe8b8", 8, 0.013),
            ),
        ),
        eye_m=1.15,
        down_deg=15.0,
        baseline_m=0.12,
        to_light=_LAMP,
    )


def curved() -> ShapeScene:
    """Columns, eggs and a barrel: hardly a flat spot."""
    return ShapeScene(
        things=(
            floor(stone("#8c7b6b #b6a593 #ddd0c0", 11, 0.02)),
            wall((0.0, 4.8), -8.0, stone("#5f7470 #8ea7a1 #cbdad5", 12, 0.055)),
            column((-1.25, 3.3), 0.30, 3.0, marble("#cfc6b8 #f3eee4 #7d6b5d", 13, 0.025)),
            column((0.15, 3.9), 0.30, 3.0, marble("#c9bfae #f1ebdf #6d5c50", 14, 0.028)),
            column((1.55, 3.2), 0.30, 3.0, marble("#cfc6b8 #f3eee4 #7d6b5d", 15, 0.025)),
            roll(
                (0.55, 2.45),
                0.27,
                0.80,
                wood("#5b3a21 #92623a #c99b62", 16, 0.014, 0.11),
                yaw_deg=28.0,
            ),
            ball((-0.50, 2.45), (0.30, 0.42, 0.30), agate("#8a2d3b #d8596a #f7d3c8", 17, 0.018)),
            ball(
                (-0.70, 1.86),
                (0.24, 0.15, 0.18),
                agate("#20506b #4f9ec4 #e4f2f7", 18, 0.014),
                yaw_deg=30.0,
            ),
            ball(
                (0.10, 1.8),
                (0.15, 0.20, 0.15),
                stone("#9a6a12 #eab543 #fff0c2", 19, 0.012),
                roll_deg=22.0,
            ),
            ball((0.68, 1.8), (0.15, 0.15, 0.15), stone("#2f4f3a #66a37a #dcefd9", 20, 0.012)),
        ),
        eye_m=1.1,
        down_deg=14.0,
        baseline_m=0.12,
        to_light=_LAMP,
    )


def boxes() -> ShapeScene:
    """Crates and parcels, turned and stacked."""
    crate = "#7b5430 #b0804c #dcb680"
    return ShapeScene(
        things=(
            floor(stone("#6f7276 #9a9da0 #c9cbcc", 21, 0.02)),
            wall((0.0, 4.4), 6.0, stone("#8b5e4b #b98a73 #e2c6b2", 22, 0.045)),
            box((-0.95, 2.9), (0.75, 0.75, 0.75), wood(crate, 23, 0.016, 0.15), yaw_deg=24.0),
            box(
                (-0.92, 2.85),
                (0.5, 0.45, 0.5),
                wood(crate, 24, 0.015, 0.1),
                yaw_deg=-12.0,
                up_m=0.75,
            ),
            box(
                (0.15, 3.3),
                (0.7, 1.15, 0.6),
                agate("#16425b #2f7da1 #cfe6ee", 25, 0.024),
                yaw_deg=-30.0,
            ),
            box(
                (1.02, 2.9),
                (0.65, 0.55, 0.65),
                stone("#7f1d2d #c8454f #f6d0bd", 26, 0.02),
                yaw_deg=38.0,
            ),
            box(
                (1.0, 2.95),
                (0.4, 0.4, 0.4),
                stone("#c27c0e #f3b73e #fff2cc", 27, 0.018),
                yaw_deg=15.0,
                up_m=0.55,
            ),
            box(
                (-0.2, 2.05),
                (0.5, 0.34, 0.4),
                stone("#2c4a34 #5f9467 #d5e8cf", 28, 0.016),
                yaw_deg=20.0,
            ),
            box((0.58, 1.9), (0.36, 0.2, 0.3), wood(crate, 29, 0.011, 0.07), yaw_deg=-20.0),
            box(
                (-0.66, 1.86),
                (0.3, 0.26, 0.3),
                agate("#4a3468 #8767b3 #e5dbf2", 30, 0.013),
                yaw_deg=-35.0,
            ),
        ),
        eye_m=1.2,
        down_deg=15.0,
        baseline_m=0.12,
        to_light=_LAMP,
    )


def fence() -> ShapeScene:
    """A garden seen through a fence of thin bars, with wires across."""
    iron, white = Plain(colour("#2b2f33")), Plain(colour("#f4f1ea"))
    leaves = "#1f3d1c #4c7a34 #a9c66a"
    posts = tuple(
        bar((x, 0.0, 1.9), (x, -0.98, 1.9), (1.5, 2.5, 2.0)[i % 3], iron)
        for i, x in enumerate(-0.9 + 0.18 * i for i in range(11))
    )
    rails = tuple(bar((-1.3, -h, 1.9), (1.3, -h, 1.9), 2.5, iron) for h in (0.16, 0.86))
    slopes = (
        bar((-0.95, 0.0, 1.45), (-0.35, -0.85, 1.45), 2.0, white),
        bar((-0.28, -0.85, 1.45), (-0.78, 0.0, 1.45), 1.2, white),
        bar((0.68, 0.0, 1.5), (0.42, -0.92, 1.5), 3.0, white),
    )
    return ShapeScene(
        things=(
            floor(stone("#4d5f2a #7d9347 #c3cf8a", 31, 0.02)),
            wall((0.0, 6.2), 0.0, stone("#86a7c4 #b3cde0 #e9f1f6", 32, 0.09)),
            column((-1.15, 4.1), 0.10, 1.2, stone("#46311f #6f5236 #a2825c", 33, 0.025)),
            ball((-1.15, 4.1), (0.78, 0.66, 0.7), stone(leaves, 34, 0.035), up_m=0.85),
            column((0.75, 4.7), 0.11, 1.2, stone("#46311f #6f5236 #a2825c", 35, 0.025)),
            ball(
                (0.75, 4.7),
                (0.72, 0.80, 0.7),
                stone("#3f4f17 #87973a #d8d77f", 36, 0.035),
                up_m=0.8,
            ),
            ball((1.75, 3.6), (0.62, 0.42, 0.5), stone(leaves, 37, 0.03)),
            ball((-0.1, 3.2), (0.36, 0.25, 0.3), stone("#8b2f4b #d46a86 #f8dfe0", 38, 0.024)),
            box(
                (0.55, 2.9),
                (0.34, 0.3, 0.34),
                stone("#7c4a36 #b5745a #e4bfa6", 39, 0.02),
                yaw_deg=25.0,
            ),
            *posts,
            *rails,
            *slopes,
        ),
        eye_m=0.95,
        down_deg=9.0,
        baseline_m=0.12,
        to_light=_LAMP,
    )


def textureless() -> ShapeScene:
    """Plain walls and plain shapes, and a few textured ones to hold on to."""
    return ShapeScene(
        things=(
            floor(stone("#9d8c7a #c2b19d #e6dac9", 41, 0.02)),
            wall((-0.4, 4.3), 20.0, Plain(colour("#dfe3df"))),
            wall((1.5, 3.9), -38.0, Plain(colour("#e8d2bd"))),
            box((-0.95, 2.7), (0.62, 0.95, 0.55), Plain(colour("#7fa7b5")), yaw_deg=28.0),
            ball((0.0, 2.75), (0.36, 0.36, 0.36), Plain(colour("#d9705f"))),
            column((0.95, 2.95), 0.25, 1.0, Plain(colour("#e4b95b"))),
            box((0.34, 1.98), (0.42, 0.26, 0.32), Plain(colour("#f1ece2")), yaw_deg=-24.0),
            box(
                (-0.48, 1.85),
                (0.32, 0.30, 0.32),
                stone("#27475c #4f8aa8 #e0eef3", 42, 0.014),
                yaw_deg=-18.0,
            ),
            ball((0.80, 1.95), (0.17, 0.17, 0.17), agate("#5d2a52 #a95c98 #f2dcec", 43, 0.013)),
            panel(
                (-0.02, -1.16, 4.40),
                (0.364, 0.0, -1.0),
                (0.36, 0.26),
                stone("#31572c #79a35b #ecf39e", 44, 0.025),
            ),
        ),
        eye_m=1.15,
        down_deg=14.0,
        baseline_m=0.12,
        to_light=_LAMP,
    )


def staircase() -> ShapeScene:
    """Steps that go up beside a tiled wall, with a handrail."""
    tread = "#8f8577 #b9ae9d #e0d7c8"
    steps = tuple(
        box((0.12, 2.65 + 0.30 * i), (2.0, 0.17 * (i + 1), 0.30), stone(tread, 51 + i, 0.017))
        for i in range(6)
    )
    rail = Plain(colour("#30343a"))
    foot = [(1.02, -0.17 * (i + 1), 2.65 + 0.30 * i) for i in range(6)]
    posts = tuple(bar(p, (p[0], p[1] - 0.62, p[2]), 2.0, rail) for p in foot)
    last = foot[-1]
    handrail = bar(
        (1.02, foot[0][1] - 0.62, foot[0][2]), (1.02, last[1] - 0.62, last[2]), 2.6, rail
    )
    return ShapeScene(
        things=(
            floor(stone("#6b5647 #96806d #c9b7a3", 60, 0.018)),
            wall((-0.9, 3.0), 90.0, Checks((colour("#2f6f7e"), colour("#f0ead6")), 0.16)),
            wall((0.0, 4.6), 0.0, Checks((colour("#b9563f"), colour("#f1dcc4")), 0.10)),
            *steps,
            *posts,
            handrail,
            ball((0.45, 2.25), (0.15, 0.15, 0.15), stone("#9a6a12 #eab543 #fff0c2", 61, 0.012)),
            box(
                (-0.52, 2.22),
                (0.28, 0.36, 0.28),
                stone("#4a3468 #8767b3 #e5dbf2", 62, 0.013),
                yaw_deg=25.0,
            ),
            ball(
                (-0.35, 3.55),
                (0.17, 0.22, 0.17),
                agate("#8a2d3b #d8596a #f7d3c8", 63, 0.017),
                up_m=0.68,
            ),
        ),
        eye_m=1.35,
        down_deg=13.0,
        baseline_m=0.12,
        to_light=(-0.25, -1.0, -0.6),
    )


def spheres() -> ShapeScene:
    """Balls from very near to far: disparities from a few to a hundred pixels."""
    places: tuple[tuple[float, float, float, str], ...] = (
        (-0.30, 0.98, 0.13, "#7f1d2d #d1495b #f8d9c4"),
        (0.36, 1.25, 0.16, "#14506b #3d9bc1 #def1f7"),
        (-0.78, 1.75, 0.24, "#b06a10 #f0ac3b #fff1c9"),
        (0.14, 2.05, 0.22, "#2b5238 #62a276 #dbf0d8"),
        (1.02, 2.35, 0.32, "#4a3468 #8c6cba #e8def5"),
        (-0.48, 3.05, 0.34, "#1f4e5f #48999b #eadfb4"),
        (-2.0, 3.9, 0.62, "#8c4a2f #cf8257 #f5d9bd"),
        (0.75, 4.1, 0.46, "#7d2350 #c9578f #f7d7e6"),
        (2.6, 5.2, 0.75, "#3b5a1f #84a845 #e7efb9"),
        (-0.7, 6.0, 0.60, "#23395b #5b82bb #e1eaf6"),
    )
    balls = tuple(
        ball((x, z), (r, r, r), (stone, agate)[i % 2](codes, 70 + i, 0.0075 * z))
        for i, (x, z, r, codes) in enumerate(places)
    )
    return ShapeScene(
        things=(
            floor(stone("#7f8486 #a9adad #d6d8d5", 80, 0.016, 5)),
            wall((0.0, 9.0), -6.0, stone("#c9b79c #e0d3bd #f6efe0", 81, 0.12)),
            *balls,
        ),
        eye_m=0.75,
        down_deg=13.0,
        baseline_m=0.17,
        to_light=_LAMP,
    )


def clutter() -> ShapeScene:
    """A full table corner: everything at once."""
    steel = Plain(colour("#3a3d42"))
    wands: tuple[
        tuple[tuple[float, float, float], tuple[float, float, float], float, Paint], ...
    ] = (
        ((-0.30, -0.30, 1.72), (-0.46, -0.98, 1.80), 2.0, Plain(colour("#c2412d"))),
        ((-0.30, -0.30, 1.72), (-0.20, -1.02, 1.74), 1.5, Plain(colour("#2d6f8e"))),
        ((-0.30, -0.30, 1.72), (-0.33, -1.08, 1.68), 2.5, Plain(colour("#e3b23c"))),
        ((1.02, 0.0, 2.3), (1.02, -1.3, 2.3), 3.0, steel),
        ((1.02, -1.3, 2.3), (0.62, -1.12, 2.15), 2.0, steel),
    )
    return ShapeScene(
        things=(
            floor(wood("#5a3d28 #8a623f #bd9265", 90, 0.013, 0.18)),
            wall((0.0, 3.9), -10.0, stone("#6d7f86 #9fb0b5 #d8e0e0", 91, 0.04)),
            box(
                (-1.15, 2.75),
                (0.62, 1.25, 0.5),
                wood("#7b5430 #b0804c #dcb680", 92, 0.016, 0.14),
                yaw_deg=20.0,
            ),
            box(
                (0.05, 2.95),
                (0.8, 0.55, 0.5),
                Stripes((colour("#f3ece0"), colour("#31618a")), 0.06),
                yaw_deg=-16.0,
            ),
            ball(
                (0.05, 2.95),
                (0.26, 0.30, 0.26),
                agate("#8a2d3b #d8596a #f7d3c8", 93, 0.018),
                up_m=0.55,
            ),
            box((0.88, 2.75), (0.45, 0.8, 0.4), Plain(colour("#d8d2c4")), yaw_deg=24.0),
            panel(
                (0.86, -1.0, 2.68),
                (-0.25, -0.35, -1.0),
                (0.21, 0.21),
                stone("#1f4e5f #3f8a8c #e9d8a6", 94, 0.017),
                round=True,
            ),
            column((-0.30, 1.72), 0.11, 0.32, marble("#cfc6b8 #f3eee4 #7d6b5d", 95, 0.014)),
            roll(
                (-0.72, 1.95), 0.12, 0.5, stone("#23395b #5b82bb #e1eaf6", 96, 0.014), yaw_deg=-25.0
            ),
            ball(
                (0.28, 1.75),
                (0.20, 0.14, 0.17),
                stone("#9a6a12 #eab543 #fff0c2", 97, 0.012),
                yaw_deg=20.0,
            ),
            ball((0.78, 2.15), (0.17, 0.17, 0.17), Plain(colour("#7fae8e"))),
            box(
                (0.60, 1.76),
                (0.24, 0.10, 0.18),
                stone("#4a3468 #8767b3 #e5dbf2", 98, 0.011),
                yaw_deg=18.0,
            ),
            *[bar(*wand) for wand in wands],
        ),
        eye_m=1.1,
        down_deg=14.0,
        baseline_m=0.12,
        to_light=_LAMP,
    )


BUILDERS: dict[str, Callable[[], ShapeScene]] = {
    "boxes": boxes,
    "clutter": clutter,
    "curved": curved,
    "fence": fence,
    "slanted": slanted,
    "spheres": spheres,
    "staircase": staircase,
    "textureless": textureless,
}


@cache
def scene(name: str) -> ShapeScene:
    """A scene by its name."""
    return BUILDERS[name]()
