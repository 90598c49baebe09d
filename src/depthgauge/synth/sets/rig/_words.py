"""The description of a scene, made from its own parameters."""

from __future__ import annotations

from depthgauge.datasets.stereogenbench import SceneDescription
from depthgauge.synth.library.maps import MAPS
from depthgauge.synth.sets.rig._proposal import Proposal
from depthgauge.synth.sets.rig._trajectory import Trajectory


def describe(proposal: Proposal, way: Trajectory) -> SceneDescription:
    """What is seen, where, by which light, and how the cameras move."""
    kind, place = MAPS[proposal.map_name], proposal.world.place
    subject, verb = proposal.subject.words, proposal.action.verb
    span = sum(proposal.gaps_cm)
    seen_from = (
        "from above"
        if way.up_deg > 25
        else "at eye level"
        if way.up_deg < 12
        else ("from slightly above")
    )
    lens = "wide" if proposal.focal_mm < 30 else "long" if proposal.focal_mm > 60 else "normal"
    short = f"{_capital(subject)} {verb} in {kind.setting}."
    listed = ", ".join(place.elements[:-1]) + f" and {place.elements[-1]}"
    layout = (
        f"{_capital(subject)} is {way.far_m:.1f} m from the cameras, seen {seen_from}; "
        f"around it are {listed}"
    )
    detailed = (
        f"{short} {layout}. The place is lit by {place.light_words}; surfaces are "
        f"{place.materials_words}. Six cameras in a row of {span:.0f} cm with a {lens} lens of "
        f"{proposal.focal_mm:.0f} mm move {way.around_deg:.0f} degrees around it."
    )
    return SceneDescription(
        scene_type=kind.scene_type,
        setting=kind.setting,
        primary_elements=(subject, *place.elements),
        spatial_layout=layout,
        lighting_materials=f"{place.light_words}; {place.materials_words}",
        short_caption=short,
        detailed_caption=detailed,
        tags=(
            kind.scene_type,
            proposal.map_name.lower(),
            proposal.subject.name,
            proposal.action.name,
            f"{lens} lens",
        ),
    )


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
