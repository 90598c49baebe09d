"""A quantity is one file, also in a package of one's own."""

import os
import subprocess
import sys
from pathlib import Path

PACKAGES = {
    "my_albedo": '''
"""Albedo: the share of light that a surface reflects, for red, green and blue."""

from depthgauge.quantities import Part, Quantity

SPEC = Quantity(
    name="albedo",
    about="Share of light that a surface reflects.",
    unit="",
    parts=(Part("albedo", axes=("y", "x", "c"), channels=3),),
    error="channels",
    default_metrics=("mae", "rms"),
)
''',
    "my_scene_flow": '''
"""Scene flow as KITTI has it: disparity in both frames, and optical flow."""

from depthgauge.quantities import Part, Quantity

SPEC = Quantity(
    name="rigid_flow",
    about="Disparity of both frames and optical flow.",
    unit="px",
    parts=(
        Part("disparity", like="disparity", resize="x"),
        Part("disparity_2", like="disparity", resize="x"),
        Part("flow", axes=("y", "x", "c"), channels=2, like="flow", resize="xy"),
    ),
    error="difference",
    default_metrics=("d1", "disparity_2/d1", "flow/fl"),
)
''',
    "my_layers": '''
"""Two layers of disparity: what is in front, and what is seen through it."""

from depthgauge.quantities import Part, Quantity

SPEC = Quantity(
    name="pane_disparity",
    about="Disparity of every surface that a pixel shows.",
    unit="px",
    parts=(Part("layers", axes=("layer", "y", "x"), like="disparity", resize="x"),),
    error="difference",
    default_metrics=("badpix:1", "layers:2/badpix:1"),
)
''',
}


def install(folder, packages):
    """Installs modules as plug-ins, as `pip` would: files and entry points on the path."""
    for name, text in packages.items():
        (folder / f"{name}.py").write_text(text)
    info = folder / "my_quantities-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: my-quantities\nVersion: 1.0\n")
    lines = "\n".join(f"{name} = {name}" for name in packages)
    (info / "entry_points.txt").write_text(f"[depthgauge.plugins]\n{lines}\n")


def test_quantities_of_other_packages_go_all_the_way(tmp_path):
    (tmp_path / "site").mkdir()
    install(tmp_path / "site", PACKAGES)
    paths = [str(tmp_path / "site"), *os.environ.get("PYTHONPATH", "").split(os.pathsep)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}
    done = subprocess.run(
        [sys.executable, str(Path(__file__).with_name("outside.py")), str(tmp_path)],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.endswith("all went through\n"), done.stdout[-2000:] + done.stderr[-6000:]
