"""Continuous surfaces of the truth, planar and curved."""

from __future__ import annotations

from depthgauge.geometry._checks import need_bends, need_jump, need_window
from depthgauge.geometry.discontinuities.continuity import Surfaces, find_surfaces
from depthgauge.regions._region import region
from depthgauge.regions._shared_maps import shared_map
from depthgauge.types import Map, Mask

_CITE = "Honauer 2019, 4.2.1"


def _check(*, jump: float, bend: float, flat: float, window: int, wide: int) -> None:
    need_jump(jump)
    need_bends(flat, bend)
    need_window(window, least=3)
    need_window(wide, least=3)


@shared_map("surfaces", needs=("quantity",), cite=_CITE, revision=2, check=_check)
def surfaces(
    truth: Map,
    *,
    quantity: str,
    jump: float = 1.0,
    bend: float = 0.05,
    flat: float = 0.002,
    window: int = 9,
    wide: int = 13,
) -> Surfaces:
    """Continuous surfaces, by second derivatives.

    The second derivatives are those of the least-squares quadratic over `window` x `window` pixels.
    A pixel is continuous (M_c) if all of these pixels have truth, none is at a jump of more than
    `jump`, and the surface bends by at most `bend`: the larger magnitude of the Hessian's
    eigenvalues in px (depth: m) per px squared. It is planar (M_p) if the bend is at most `flat`,
    in this window or in a `wide` one, else curved (M_n). On planes, disparity and inverse depth
    have no second derivative, so for depth the bend is that of 1 / depth, times the depth squared.
    For flow it is the larger of the two channels.

    Within 9 px, a surface that bends by 0.05 leaves its tangent plane by 0.4 px, well below a jump,
    and one that bends by 0.002 leaves it by 0.016 px; noise of 0.04 px in the truth makes planes
    look equally bent. Errors of measured truth are alike in neighbouring pixels, which makes flat
    floors look bent in streaks; the `wide` window sees over them. Use a `flat` of 0.005 for truth
    in steps of a quarter px, `surfaces:1,0.05,0.0001,9,9` for rendered truth without noise, and
    `surfaces:0.1,0.005,0.0002,9,9` for rendered light fields.
    """
    return find_surfaces(truth, quantity, jump=jump, bend=bend, flat=flat, window=window, wide=wide)


@region("continuous_surfaces", needs=("surfaces",), cite=_CITE)
def continuous_surfaces(truth: Map, *, surfaces: Surfaces) -> Mask:
    """Pixels of continuous surfaces (M_c)."""
    return surfaces.continuous


@region("planar_surfaces", needs=("surfaces",), cite=_CITE)
def planar_surfaces(truth: Map, *, surfaces: Surfaces) -> Mask:
    """Pixels of planar surfaces (M_p)."""
    return surfaces.planar


@region("curved_surfaces", needs=("surfaces",), cite=_CITE)
def curved_surfaces(truth: Map, *, surfaces: Surfaces) -> Mask:
    """Pixels of continuous surfaces that are not planar (M_n)."""
    return surfaces.curved
