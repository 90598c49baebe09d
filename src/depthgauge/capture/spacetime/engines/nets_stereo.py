"""Space-time stereo with our stereo network, which needs PyTorch.

After Zama Ramirez et al. 2024 (Booster), equations 6 and 7: the correlations of all patterns are
averaged, and each pattern's left picture guides one map from them. `Learned` has that part.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from depthgauge.capture.spacetime.engine import Engine, EngineSpec, Matches, Pairs, Stack
from depthgauge.capture.spacetime.engines.learned import Features, Learned, Volume, correlation
from depthgauge.errors import MissingExtra
from depthgauge.types import Map

if TYPE_CHECKING:
    from depthgauge.methods.nets._torch.spacetime import Guidance, SharedVolume

SPEC = EngineSpec(
    "nets-stereo",
    "Our stereo network on the mean of all patterns' correlations; needs PyTorch.",
    cite="Zama Ramirez et al. 2024, equations 6 and 7",
)
FEATURE_PX = 4
"""A feature covers this many px of the picture that the network sees."""
_LEARNED_PX = 170
"""The largest disparity that the network saw in training."""
_ZOOM = 2
"""Pictures are enlarged by this factor where disparities stay within what was learned: features
are coarse, and thin objects vanish between them."""
_UPDATES = 10


@dataclass(frozen=True, slots=True)
class NetsStereo:
    """Our stereo network as an engine."""

    updates: int = _UPDATES
    zoom: int = _ZOOM
    revision: int = 3
    """Rises with the weights, too."""
    margin_rows: int = 64
    """Its normalisation sees the whole picture, so tiles differ slightly whatever the margin."""
    uncertainty: str = "maps of single patterns from the shared volume"

    def bytes_per_row(self, size: tuple[int, int, int], disparities: tuple[int, int]) -> int:
        """Volumes of all pairs of columns, the network's pyramid of them, and its activations."""
        small = self.zoom * size[2] / FEATURE_PX
        rows = self.zoom / FEATURE_PX
        return int(rows * small * (48 * small + 4 * 1200)) + 64 * size[2] * size[0]

    def match(self, pairs: Pairs, disparities: tuple[int, int]) -> Matches:
        """Mean and variance of the patterns' maps.

        The right pictures are shifted by the smallest disparity, so that those to be found begin at
        0, as in training.
        """
        low, high = disparities
        fits = self.zoom * (high - low) <= _LEARNED_PX
        shared = shared_volume(self.zoom if fits else 1, self.updates)
        columns = np.clip(np.arange(pairs.size[2]) - low, 0, pairs.size[2] - 1)
        shifted = Pairs(pairs.left, pairs.right[:, :, columns], pairs.left_known, pairs.right_known)
        found = Learned(_Adapter(shared)).match(shifted, (0, high - low))
        return Matches(found.disparity + np.float32(low), found.variance, found.confidence)


def engine() -> Engine:
    """The engine with its default settings.

    Raises:
        MissingExtra: PyTorch is not installed.
    """
    shared_volume(1, 1)
    return NetsStereo()


def shared_volume(zoom: int, updates: int) -> SharedVolume:
    """The network of the package, taken apart.

    Raises:
        MissingExtra: PyTorch is not installed.
    """
    from depthgauge.methods.nets._networks import WEIGHTS

    try:
        from depthgauge.methods.nets._torch.inference import device_of, network
        from depthgauge.methods.nets._torch.spacetime import SharedVolume
    except ModuleNotFoundError as error:
        if error.name != "torch":
            raise
        raise MissingExtra(
            "the engine nets-stereo needs PyTorch; say: pip install 'depthgauge[nets]'"
        ) from None
    device = device_of("auto")
    net: Any = network("stereo", WEIGHTS / "stereo.safetensors", device)
    return SharedVolume(net, device, zoom, updates)


class _Adapter:
    """The network as `Learned` wants it; all updates are one call."""

    revision, iterations, margin_rows = 1, 1, 64

    def __init__(self, shared: SharedVolume) -> None:
        self._shared = shared
        self.shrinks_by = FEATURE_PX // shared.zoom

    def features(self, image: Stack) -> Features:
        return self._shared.features(image)  # type: ignore[no-any-return]  # not checked

    def context(self, image: Stack) -> Guidance:
        return self._shared.guidance(image)  # type: ignore[no-any-return]  # not checked

    def correlation(self, left: Features, right: Features) -> Volume:
        scale = np.float32(1 / np.sqrt(left.shape[2]))
        return correlation(left * scale, right)

    def update(
        self, features: Features, context: Guidance, disparity: Map | None, volume: Volume
    ) -> NDArray[np.float32]:
        return self._shared.disparity(context, volume)  # type: ignore[no-any-return]  # not checked
