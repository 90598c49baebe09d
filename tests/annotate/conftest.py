"""A small study with simulated people, made once. Do not write there."""

import pytest

from depthgauge.annotate.simulate.study import write_study


@pytest.fixture(scope="session")
def study(tmp_path_factory):
    """Two people, two scenes of 80x60, the exact depth as the sensor's."""
    folder = tmp_path_factory.mktemp("study")
    write_study(folder, "mixed", scenes=2, annotators=2, width=80, height=60)
    return folder
