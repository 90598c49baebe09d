"""What all tests share: data beside the repository, golden inputs, numba with its own threads."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# Idle OpenMP threads spin by default, and two test processes then fight for the cores.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

REPOSITORY = Path(__file__).resolve().parents[1]

collect_ignore = ["golden"]  # scripts, not modules with doctests

settings.register_profile(
    "depthgauge", deadline=None, suppress_health_check=[HealthCheck.too_slow], max_examples=60
)
settings.load_profile("depthgauge")


@pytest.fixture(scope="session")
def shared():
    """A path in the folder of real data beside the repository; skips where there is none."""

    def find(relative: str) -> Path:
        path = REPOSITORY.parent / "shared" / relative
        if not path.exists():
            pytest.skip(f"needs {relative}, real data that is not part of the repository")
        return path

    return find


@pytest.fixture(scope="session")
def golden_middlebury(tmp_path_factory) -> Path:
    """The inputs that Middlebury's own program was run on."""
    out = tmp_path_factory.mktemp("golden") / "middlebury"
    script = REPOSITORY / "tests" / "golden" / "middlebury" / "make_inputs.py"
    subprocess.run([sys.executable, script, out], check=True)
    return out
