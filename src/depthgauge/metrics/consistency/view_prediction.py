"""Predicted views: does a map tell where each pixel is in another picture of the scene?

No truth is used. The other picture is fetched along the map and compared with the map's own one,
pixel by pixel. A third picture, which the method has not seen, is the better judge: in the picture
that was matched, wrong matches look right by construction.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from depthgauge.errors import Unavailable
from depthgauge.geometry.warping import warp_backward
from depthgauge.io.shown import shown as as_shown
from depthgauge.metrics._judged import need_size, whole_region
from depthgauge.metrics._metric import metric
from depthgauge.metrics.structure.range_similarity import whole_windows
from depthgauge.metrics.views._frames import finish_frames, frame_state
from depthgauge.metrics.views.reconstruction import CAP_DB, decibels, ssim_map
from depthgauge.types import Map, Mask, State, is_known
from depthgauge.units import Unit

if TYPE_CHECKING:
    from depthgauge.geometry.warping import OtherView

OF = ("disparity", "depth", "flow")
VIEW = {"view": ("other", "third")}
_NEEDS = ("other_views", "truth_view")
_WORST_SSIM = -1.0
Values = NDArray[np.float64]


class OwnView(Protocol):
    """The image that a map belongs to; the shared map `truth_view` is one."""

    @property
    def channels(self) -> NDArray[Any]:
        """(H, W, 1 or 3), values of 0..255."""


def predicted_pictures(
    estimate: Map, views: tuple[OtherView, ...], own: OwnView, view: str
) -> Iterator[tuple[Map, Map]]:
    """The map's own picture as each other view predicts it, and as it is; 0..1, (H, W, C).

    A predicted pixel is NaN without an estimate.

    Raises:
        Unavailable: There is no such view.
    """
    chosen = [each for each in views if each.is_third == (view == "third")]
    if not chosen:
        raise Unavailable(f"this sample has no {view} view.")
    need_size(own.channels, "the image", estimate)
    picture = np.asarray(own.channels, np.float32) / np.float32(255)
    for each in chosen:
        image = each.image if each.image.ndim == 3 else each.image[..., None]
        other = as_shown(image[..., :3])
        if picture.shape[2] == 1 and other.shape[2] == 3:  # a grey camera beside one for colours
            other = _grey(other)[..., None].astype(np.float32)
        other = np.broadcast_to(other, picture.shape)
        yield warp_backward(np.ascontiguousarray(other), each.moves(estimate)), picture


def squared_errors(predicted: Map, picture: Map) -> Values:
    """The mean over channels of the squared error of each pixel; NaN without an estimate."""
    return np.asarray(np.mean(np.subtract(predicted, picture, dtype=np.float64) ** 2, axis=2))


@metric(
    "prediction_rms",
    category="weak_reference",
    unit=Unit.RATIO,
    better="lower",
    bounds=(0, 1),
    of=OF,
    needs=_NEEDS,
    choices=VIEW,
    cite="Szeliski 1999; Morales & Klette 2009",
    formula="sqrt(mean (predicted - actual colour)^2), colours from 0 to 1",
    revision=1,
    uses_truth=False,
    missing_costs="has the largest error, 1; `skip`: is left out",
)
class PredictionRms:
    """Error of predicted colours: how far those that the map predicts are from the real ones.

    Each pixel fetches its colour from the other view, where the map says that it is; beyond the
    view's border it gets the nearest colour. `third` compares with views beyond the matched pair.
    Textureless areas hide errors, and occluded pixels have no right colour: use the region
    `visible` where it is known.

    >>> import numpy as np, depthgauge as dg
    >>> left = np.array([[0, 51, 102, 204]], np.uint8)
    >>> items = {"left_image": left, "right_image": np.array([[51, 102, 204, 204]], np.uint8)}
    >>> s = dg.score([[0, 1, 1, 2]], None, "prediction_rms", items=items)
    >>> round(s["prediction_rms@all"].value ** 2, 4)
    0.05
    """

    @staticmethod
    def measure(
        estimate: Map,
        truth: Map | None,
        region: Mask | None,
        *,
        other_views: tuple[OtherView, ...],
        truth_view: OwnView,
        view: str = "other",
    ) -> State:
        """The sum of the squared errors over pixels and views."""
        inside = whole_region(region, estimate)
        state = State(0, 0, np.zeros(1))
        for predicted, picture in predicted_pictures(estimate, other_views, truth_view, view):
            squares = squared_errors(predicted, picture)[inside]
            known = squares[np.isfinite(squares)]
            total = np.array([float(np.sum(known))])
            state = state + State(known.size, squares.size - known.size, total)
        return state

    @staticmethod
    def finish(state: State, *, missing: str, view: str = "other") -> float:
        """The root of the mean."""
        lost = state.missing if missing in ("bad", "interpolate") else 0
        n = state.count + lost
        return math.sqrt((float(state.sums[0]) + lost) / n) if n else math.nan

    @staticmethod
    def error_map(
        estimate: Map,
        truth: Map | None,
        *,
        other_views: tuple[OtherView, ...],
        truth_view: OwnView,
        view: str = "other",
    ) -> Map:
        """The error of each pixel's colour, over all views."""
        found = [
            squared_errors(*pair)
            for pair in predicted_pictures(estimate, other_views, truth_view, view)
        ]
        return np.asarray(np.sqrt(np.mean(found, axis=0)), np.float32)


@metric(
    "prediction_psnr",
    category="weak_reference",
    unit=Unit.DECIBEL,
    better="higher",
    bounds=(0, CAP_DB),
    of=OF,
    needs=_NEEDS,
    choices=VIEW,
    cite="Führ et al. 2013",
    formula="mean over views of -10 log10 mean (predicted - actual colour)^2",
    revision=1,
    uses_truth=False,
    missing_costs="has the largest error, 1; `skip`: is left out",
)
class PredictionPsnr:
    """Peak signal-to-noise ratio of the picture that the map predicts from another view.

    As `prediction_rms`, in decibels; several views are averaged.

    >>> import numpy as np, depthgauge as dg
    >>> left = np.array([[0, 51, 102, 204]], np.uint8)
    >>> items = {"left_image": left, "right_image": np.array([[51, 102, 204, 204]], np.uint8)}
    >>> s = dg.score([[0, 1, 1, 2]], None, "prediction_psnr", items=items)
    >>> round(s["prediction_psnr@all"].value, 4)
    13.0103
    """

    @staticmethod
    def measure(
        estimate: Map,
        truth: Map | None,
        region: Mask | None,
        *,
        other_views: tuple[OtherView, ...],
        truth_view: OwnView,
        view: str = "other",
    ) -> State:
        """The ratio of each view, with and without missing pixels."""
        inside, states = whole_region(region, estimate), []
        for predicted, picture in predicted_pictures(estimate, other_views, truth_view, view):
            squares = squared_errors(predicted, picture)[inside]
            known = squares[np.isfinite(squares)]
            total, n, lost = float(np.sum(known)), known.size, squares.size - known.size
            both = (total + lost) / (n + lost) if n + lost else math.nan
            alone = total / n if n else math.nan
            values = (decibels(each, CAP_DB) for each in (both, alone))
            states.append(frame_state(State(n, lost), *values))
        return _added(states)

    @staticmethod
    def finish(state: State, *, missing: str, view: str = "other") -> float:
        """The mean over views."""
        return finish_frames(state, missing)


@metric(
    "prediction_ncc",
    category="weak_reference",
    unit=Unit.RATIO,
    better="higher",
    bounds=(-1, 1),
    of=OF,
    needs=_NEEDS,
    choices=VIEW,
    cite="Morales & Klette 2009",
    formula="mean over views of the correlation of predicted and actual grey values",
    revision=1,
    uses_truth=False,
    missing_costs="counts as a correlation of -1; `skip`: is left out",
)
class PredictionNcc:
    """Normalised cross correlation of the picture that the map predicts from another view.

    Of the grey values of all pixels with an estimate, minus their means. A difference in exposure
    between the views costs nothing, unlike in `prediction_rms`.

    >>> import numpy as np, depthgauge as dg
    >>> left = np.array([[0, 50, 100, 200]], np.uint8)
    >>> items = {"left_image": left, "right_image": left // 2 + 20}
    >>> s = dg.score([[0, 0, 0, 0]], None, "prediction_ncc", items=items)
    >>> round(s["prediction_ncc@all"].value, 6)
    1.0
    """

    @staticmethod
    def measure(
        estimate: Map,
        truth: Map | None,
        region: Mask | None,
        *,
        other_views: tuple[OtherView, ...],
        truth_view: OwnView,
        view: str = "other",
    ) -> State:
        """The correlation of each view, with and without missing pixels."""
        inside, states = whole_region(region, estimate), []
        for predicted, picture in predicted_pictures(estimate, other_views, truth_view, view):
            known = inside & is_known(predicted)
            n, lost = int(known.sum()), int((inside & ~known).sum())
            value = _correlation(_grey(predicted[known]), _grey(picture[known]))
            both = (n * value - lost) / (n + lost) if n else (-1.0 if lost else math.nan)
            states.append(frame_state(State(n, lost), both, value))
        return _added(states)

    @staticmethod
    def finish(state: State, *, missing: str, view: str = "other") -> float:
        """The mean over views."""
        return finish_frames(state, missing)


@metric(
    "prediction_ssim",
    category="weak_reference",
    unit=Unit.RATIO,
    better="higher",
    bounds=(-1, 1),
    of=OF,
    needs=_NEEDS,
    choices=VIEW,
    cite="Führ et al. 2013",
    formula="mean over views of `ssim` of the predicted and the actual picture",
    revision=1,
    uses_truth=False,
    missing_costs="a window with a missing pixel has -1; `skip`: it is left out",
)
class PredictionSsim:
    """Structural similarity of the picture that the map predicts from another view.

    With the Gaussian windows of `ssim`, 11 x 11 px, those within the picture.

    >>> import numpy as np, depthgauge as dg
    >>> left = np.random.default_rng(0).integers(0, 256, (16, 16), np.uint8)
    >>> items = {"left_image": left, "right_image": left}
    >>> s = dg.score(np.zeros((16, 16)), None, "prediction_ssim", items=items)
    >>> round(s["prediction_ssim@all"].value, 6)
    1.0
    """

    @staticmethod
    def measure(
        estimate: Map,
        truth: Map | None,
        region: Mask | None,
        *,
        other_views: tuple[OtherView, ...],
        truth_view: OwnView,
        view: str = "other",
    ) -> State:
        """The similarity of each view, with and without windows that have missing pixels."""
        inside, states = whole_region(region, estimate), []
        for predicted, picture in predicted_pictures(estimate, other_views, truth_view, view):
            known = is_known(predicted)
            filled = np.where(known[..., None], predicted, np.float32(0))
            found, radius = ssim_map(filled, picture, "gaussian")
            height, width = found.shape
            asked = inside[radius : radius + height, radius : radius + width]
            whole = asked & whole_windows(known, 2 * radius + 1)
            n, lost = int(whole.sum()), int((asked & ~whole).sum())
            total = float(np.sum(found[whole]))
            both = (total + _WORST_SSIM * lost) / (n + lost) if n + lost else math.nan
            states.append(frame_state(State(n, lost), both, total / n if n else math.nan))
        return _added(states)

    @staticmethod
    def finish(state: State, *, missing: str, view: str = "other") -> float:
        """The mean over views."""
        return finish_frames(state, missing)


def _added(states: list[State]) -> State:
    total = states[0]
    for state in states[1:]:
        total = total + state
    return total


def _grey(colours: Map) -> Values:
    weights = (0.299, 0.587, 0.114) if colours.shape[-1] == 3 else (1.0,)
    return np.asarray(colours @ np.array(weights), np.float64)


def _correlation(first: Values, second: Values) -> float:
    """The correlation of two sets; NaN without any, 0 if one of them does not vary."""
    if not first.size:
        return math.nan
    a, b = first - first.mean(), second - second.mean()
    size = math.sqrt(float(a @ a) * float(b @ b))
    return float(a @ b) / size if size else 0.0
