"""The scene model: things of meshes and materials, lamps, motions, and the default place of a rig.

A `Scene` is made of triangle meshes and says nothing about who looks at it. `render.embree` gives
exact geometry for any camera at any time, and `render.mitsuba` gives pictures.

A `ShapeScene` is made of planes, boxes, ellipsoids and cylinders that rays meet in closed form. It
needs no renderer, and its truth is exact at any resolution; `render.closed_form` renders it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from depthgauge._registry import unknown
from depthgauge.synth.scene.frame import Triple
from depthgauge.synth.scene.light import Light
from depthgauge.synth.scene.material import Material
from depthgauge.synth.scene.mesh import Mesh
from depthgauge.synth.scene.motion import Motion
from depthgauge.synth.scene.shape import Shape
from depthgauge.synth.scene.texture import Paint


@dataclass(frozen=True, slots=True, eq=False)
class Thing:
    """A mesh and what it is made of; things with the same name are one object."""

    name: str
    mesh: Mesh
    material: Material


@dataclass(frozen=True, slots=True)
class Stand:
    """Where a rig stands by default."""

    eye_m: float = 0.45
    """Height above the table, which is y = 0."""
    down_deg: float = 17.0
    """How much it looks down."""
    aim_m: float = 1.3
    """Depth of what projectors are aimed at."""


@dataclass(frozen=True, slots=True, eq=False)
class Scene:
    """Things under lamps, some of them in motion."""

    name: str
    things: tuple[Thing, ...]
    lights: tuple[tuple[Light, ...], ...]
    """The lamps of each illumination."""
    stand: Stand = field(default_factory=Stand)
    motions: Mapping[str, Motion] = field(default_factory=dict)
    """How objects move, by name; all others stand still."""

    def __post_init__(self) -> None:
        for name in self.motions:
            if name not in self.object_names:
                raise unknown(f"object of the scene '{self.name}'", name, self.object_names)

    @property
    def object_names(self) -> tuple[str, ...]:
        """The names of all objects, in the order of their first things."""
        return tuple(dict.fromkeys(thing.name for thing in self.things))

    def moving(self, motions: Mapping[str, Motion]) -> Scene:
        """The same scene with objects in motion.

        Raises:
            UnknownName: There is no such object.
        """
        return replace(self, motions={**self.motions, **motions})

    def things_at(self, time_s: float) -> tuple[Thing, ...]:
        """The things where they are at a time; those without a motion are returned unchanged."""
        return tuple(
            Thing(t.name, t.mesh.transformed(self.motions[t.name](time_s)), t.material)
            if t.name in self.motions
            else t
            for t in self.things
        )


# --- scenes in closed form ------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Body:
    """A shape and what it looks like."""

    shape: Shape
    paint: Paint
    thin: bool = False
    """Whether it is a bar only a few pixels wide."""


@dataclass(frozen=True, slots=True)
class ShapeScene:
    """Bodies and a point of view; the floor is y = 0 and heights are negative."""

    things: tuple[Body, ...]
    eye_m: float
    """Height of the cameras above the floor."""
    down_deg: float
    """How much the cameras look down."""
    baseline_m: float
    to_light: Triple
    focal_widths: float = 1.0
    """Focal length in widths of the image: the field of view is the same at every size."""
