"""Things that shine or let light through, one function each: what flies and stands in the rooms.

    things = KINDS["wine_glass"]("wine glass", material, rng)

A kind gives an object that stands on y = 0: one or more things of one name (the liquid in a vessel
has its own). Its bodies are closed, with walls of real thickness. Kinds that cannot be of glass
take metal instead.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from depthgauge.synth.library.glassware import (
    bottles,
    drinking,
    furnishings,
    panes,
    sculptures,
    vessels,
)
from depthgauge.synth.library.objects import Things
from depthgauge.synth.scene.material import Material

Kind = Callable[[str, Material, np.random.Generator], Things]

KINDS: dict[str, Kind] = {
    kind.__name__: kind
    for kind in (
        *(bottles.bottle, bottles.solid_bottle, bottles.carafe, bottles.flask),
        *(bottles.round_flask, bottles.vial, bottles.perfume_bottle, bottles.ribbed_bottle),
        *(drinking.tumbler, drinking.wine_glass, drinking.flute, drinking.goblet),
        *(drinking.beaker, drinking.jug),
        *(vessels.vase, vessels.twisted_vase, vessels.bowl, vessels.fish_bowl),
        *(vessels.filled_jar, vessels.filled_glass, vessels.pot),
        *(panes.pane, panes.window, panes.double_window, panes.ribbed_pane),
        *(panes.hammered_pane, panes.standing_mirror),
        *(sculptures.ball, sculptures.pebble, sculptures.block, sculptures.knot),
        *(sculptures.hoop, sculptures.crystal, sculptures.wedge, sculptures.figure),
        *(furnishings.globe_lamp, furnishings.desk_lamp, furnishings.lantern),
        *(furnishings.tray, furnishings.plate, furnishings.cake_dome, furnishings.candlestick),
    )
}
"""All kinds by name."""
