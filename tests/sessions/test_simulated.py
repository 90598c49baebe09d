"""The hidden truth of a simulation, on disk and back."""

import numpy as np
import pytest

from depthgauge.errors import BadData
from depthgauge.sessions import SimulatedTruth, read_simulated, write_simulated
from depthgauge.types import Camera


@pytest.fixture
def truth():
    pose = np.eye(4)
    pose[:3, 3] = 0.1, -0.2, 1 / 3
    left = Camera((250.1, 250.2), (160.3, 117.0), (320, 234), (-0.1, 0.02, 1e-4, 0.0, 1e-3), pose)
    return SimulatedTruth(
        cameras={"L": left},
        projectors={"P0": Camera((1.0, 1.0), (0.0, 0.0), (2, 2))},
        vertices=np.random.default_rng(0).random((4, 3)),
        triangles=np.array([[0, 1, 2], [1, 2, 3]], np.int32),
        materials=np.array([0, 3], np.int32),
        surfaces=np.array([0, 1], np.int32),
        objects=np.array([0, 1], np.int32),
    )


def test_truth_comes_back_to_the_bit(tmp_path, truth):
    write_simulated(tmp_path / "truth", truth)
    read = read_simulated(tmp_path / "truth")
    assert read.cameras == truth.cameras
    assert read.projectors == truth.projectors
    for name in ("vertices", "triangles", "materials", "surfaces", "objects"):
        assert np.array_equal(getattr(read, name), getattr(truth, name))
        assert getattr(read, name).dtype == getattr(truth, name).dtype


def test_damage_is_one_sentence(tmp_path, truth):
    with pytest.raises(BadData, match=r"needs its cameras\.json here"):
        read_simulated(tmp_path)
    write_simulated(tmp_path, truth)
    (tmp_path / "mesh.npz").write_bytes(b"this is no archive")
    with pytest.raises(BadData, match="cannot be read"):
        read_simulated(tmp_path)
    (tmp_path / "mesh.npz").unlink()
    with pytest.raises(BadData, match="cannot be read"):
        read_simulated(tmp_path)
