"""A small set of rig scenes, made once for all tests of generators."""

import pytest

SMALL_RIG = {
    "scenes": 2,
    "width": 96,
    "height": 96,
    "frames": 5,
    "seed": 77,
    "unseen": 0.5,
    "workers": 1,
}


@pytest.fixture(scope="session")
def rig_set(tmp_path_factory):
    """Two scenes of Uniform for eval, one in an unseen map. Do not write there."""
    pytest.importorskip("embreex", reason="scenes need Embree: depthgauge[render]")
    pytest.importorskip("av", reason="videos need PyAV: depthgauge[video]")
    from depthgauge.synth.generators import generate

    out = tmp_path_factory.mktemp("rig") / "set"
    generate("rig", out, **SMALL_RIG)
    return out
