import subprocess
import sys

import depthgauge.geometry as geometry


def test_importing_the_room_loads_nothing_heavy():
    code = (
        "import depthgauge.geometry, sys; "
        "print(*sorted({'numba', 'scipy', 'cv2', 'skimage'} & set(sys.modules)))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == ""


def test_everything_promised_is_there():
    assert all(hasattr(geometry, name) for name in geometry.__all__)
