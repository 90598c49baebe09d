import pytest

from depthgauge.synth.sets import stereo_scenes
from depthgauge.types import Sample


@pytest.fixture(scope="session")
def clean() -> dict[str, Sample]:
    """All scenes at full size, without noise in their images."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stereo_scenes, "NOISE_LEVELS", 0.0)
        return {sample.id: sample for sample in stereo_scenes.make_scenes()}
