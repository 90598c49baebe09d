"""More of the demo, made while the site runs already: light fields, and generated right views."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from depthgauge.datasets import manifest_folder
from depthgauge.engine.running.run import run
from depthgauge.serve import demo
from depthgauge.serve.site import Site
from depthgauge.serve.storage.database import Database
from depthgauge.serve.submissions.registry import add_benchmark, known_benchmarks
from depthgauge.types import Inputs, Sample, Truth

LIGHT_FIELD_METHODS = ("lf-pair", "lf-cost-volume")
VIEW_METHODS = ("shift", "copy_left", "warp_inpaint")
VIEWS = """
id = "right-views"
version = 1
title = "Right views"
about = \"\"\"
A method gets the left view of a stereo pair and its disparity, and makes the right view. They can
be judged by eye, too: as an anaglyph, or both views in turn.
\"\"\"
dataset = "depthgauge"
quantity = "view"
missing = "bad"
pool = "image"
[[scores]]
metric = "psnr"
[[scores]]
metric = "ssim"
[[scores]]
metric = "mae"
"""
_FIELD_PX, _FIELD_VIEWS = 128, 5
_VIEW_SCENES, _VIEW_PX = ("boxes", "clutter", "spheres"), (320, 240)


def add_viewers(site: Site, database: Database, folder: Path) -> None:
    """Adds benchmarks of light fields and of right views to a demo, with their baselines.

    Args:
        site: A site that `make_demo` filled; it may be running.
        database: Its database.
        folder: Where the data goes.
    """
    known = known_benchmarks(database)
    if "stratified" not in known:
        _make_light_fields(folder / "light-fields")
        add_benchmark(site, database, "stratified", folder / "light-fields", monthly_quota=20)
        _run(site, database, folder, "stratified", folder / "light-fields", LIGHT_FIELD_METHODS)
    if "right-views" not in known:
        toml = folder / "right-views.toml"
        toml.write_text(VIEWS)
        _make_views(folder / "right-views")
        add_benchmark(site, database, str(toml), folder / "right-views", monthly_quota=20)
        _run(site, database, folder, str(toml), folder / "right-views", VIEW_METHODS)


def _make_light_fields(out: Path) -> None:
    from depthgauge.synth.generators.stratified import StratifiedOptions, make

    options = StratifiedOptions(
        scenes=("backgammon", "stripes"), size_px=_FIELD_PX, views=_FIELD_VIEWS, scale=4
    )
    make(out, options, overwrite=True, progress=None)


def _make_views(out: Path) -> None:
    from depthgauge.synth.sets.stereo_scenes import make_scenes

    samples = []
    for scene in make_scenes(_VIEW_SCENES, size_px=_VIEW_PX):
        assert scene.truth is not None
        given = {name: scene.inputs[name] for name in ("left_image", "rig")}
        right = np.asarray(scene.inputs["right_image"], np.float32) / 255
        inputs = Inputs({**given, "disparity": scene.truth["disparity"]})
        samples.append(Sample(scene.id, inputs, Truth({"view": right})))
    manifest_folder.write(
        out, samples, id="right-views", title="Right views", licence="CC0-1.0", overwrite=True
    )


def _run(
    site: Site,
    database: Database,
    folder: Path,
    benchmark: str,
    data: Path,
    methods: Sequence[str],
) -> None:
    organiser = demo.organiser_of(database)
    name = Path(benchmark).stem
    for method in methods:
        out = folder / f"run-{method}"
        run(benchmark, data, [method], out, workers=0)
        demo.submit(site, database, organiser, name, method, out / "estimates" / method)
