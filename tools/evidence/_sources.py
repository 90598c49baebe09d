"""What the numbers of each figure depend on, beside the figure's own module.

A name with dots is a module, or a package with all that is in it; "!" before it leaves it out
again. A name with slashes is a file of the repository.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from tools.evidence import _code
from tools.evidence._code import Code, code_of, files_of, total

SIMULATOR = (
    "depthgauge.synth.sets.capture_session",
    "depthgauge.synth.library.objects",
    "depthgauge.synth.library.rooms",
    "depthgauge.synth.render._kernels",
    "depthgauge.synth.render.denoise",
    "depthgauge.synth.render.embree",
    "depthgauge.synth.render.mitsuba",
    "depthgauge.synth.render.painted",
    "depthgauge.synth.scene.camera",
    "depthgauge.synth.scene.light",
    "depthgauge.synth.scene.material",
    "depthgauge.synth.scene.mesh",
    "depthgauge.synth.scene.model",
    "depthgauge.synth.scene.texture",
    "depthgauge.sessions",
    "!depthgauge.sessions.tags",
    "depthgauge.geometry.ray_scene",
)
"""What photographs a simulated session."""

PIPELINE = (
    "depthgauge.capture",
    "!depthgauge.capture.assist",
    "!depthgauge.capture.audit.bar_promise",
    "!depthgauge.capture.export",
    "!depthgauge.capture.importing",
    "!depthgauge.capture.refine.engines.bimodal",
    "!depthgauge.capture.spacetime.engines.nets_checked",
    "!depthgauge.capture.spacetime.engines.nets_stereo",
    "!depthgauge.capture.splits",
    "!depthgauge.capture.step_options",
    "!depthgauge.capture.tags",
    "depthgauge.geometry._distance_kernels",
    "depthgauge.geometry._kernels",
    "depthgauge.geometry.camera_json",
    "depthgauge.geometry.discontinuities",
    "depthgauge.geometry.disparity",
    "depthgauge.geometry.distances",
    "depthgauge.geometry.intrinsics",
    "depthgauge.geometry.projection",
    "depthgauge.geometry.rectified",
    "depthgauge.geometry.warping",
    "depthgauge.regions.discontinuities",
)
"""What makes labels of the photographs."""

TAG_SIMULATOR = (
    "depthgauge.synth.sets.tag_session",
    "depthgauge.synth.sets.capture_session._board",
    "depthgauge.synth.sets.capture_session._board_kernels",
    "depthgauge.synth.sets.capture_session._light_kernels",
    "depthgauge.synth.sets.capture_session._sensor",
    "depthgauge.synth.library.finishes",
    "depthgauge.synth.library.glassware",
    "depthgauge.synth.library.objects",
    "depthgauge.synth.render._kernels",
    "depthgauge.synth.render._layer_kernels",
    "depthgauge.synth.render._path_kernels",
    "depthgauge.synth.render.embree",
    "depthgauge.synth.render.layers",
    "depthgauge.synth.render.painted",
    "depthgauge.synth.render.refracted_view",
    "depthgauge.synth.scene.camera",
    "depthgauge.synth.scene.material",
    "depthgauge.synth.scene.mesh",
    "depthgauge.synth.scene.model",
    "depthgauge.synth.scene.motion",
    "depthgauge.synth.scene.texture",
    "depthgauge.sessions.board",
    "depthgauge.sessions.tags",
    "depthgauge.geometry._kernels",
    "depthgauge.geometry.projection",
    "depthgauge.geometry.ray_scene",
)
"""What photographs a simulated session with tags."""

TAG_PIPELINE = (
    "depthgauge.capture.calibrate",
    "depthgauge.capture.rectify",
    "depthgauge.capture.resample",
    "depthgauge.capture._resample_kernels",
    "depthgauge.capture.tags",
    "!depthgauge.capture.tags.export",
    "depthgauge.geometry.camera_json",
    "depthgauge.geometry.rectified",
)
"""What makes correspondences of the photographs."""

RECONSTRUCTION = (
    "depthgauge.annotate.quality.agreement",
    "depthgauge.annotate.quality.clouds",
    "depthgauge.annotate.quality.exact_error",
    "depthgauge.annotate.quality.rotation",
    "depthgauge.annotate.quality.turned_shape",
    "depthgauge.annotate.quality.witnesses",
    "depthgauge.annotate.reconstruct",
    "!depthgauge.annotate.reconstruct.export",
    "!depthgauge.annotate.reconstruct.more_files",
    "depthgauge.annotate.records.region_points",
    "depthgauge.annotate.simulate",
    "depthgauge.geometry._multigrid",
    "depthgauge.geometry._multigrid_kernels",
    "depthgauge.geometry.angles",
    "depthgauge.geometry.link_system",
    "depthgauge.geometry.normal_integration",
    "depthgauge.geometry.pairs",
    "depthgauge.geometry.polygons",
    "depthgauge.geometry.projection",
    "depthgauge.geometry.ray_scene",
    "depthgauge.synth.library.objects",
    "depthgauge.synth.library.rooms",
    "depthgauge.synth.library.shapes",
    "depthgauge.synth.render.closed_form.rays",
    "depthgauge.synth.render.embree",
    "depthgauge.synth.render.painted",
    "depthgauge.synth.scene.camera",
    "depthgauge.synth.scene.frame",
    "depthgauge.synth.scene.mesh",
    "depthgauge.synth.scene.model",
    "depthgauge.synth.scene.shape",
    "depthgauge.synth.sets.single_views._borders",
    "depthgauge.synth.sets.single_views._furnish",
    "depthgauge.synth.sets.single_views._make",
    "depthgauge.synth.sets.single_views._rooms",
    "depthgauge.synth.sets.single_views._view",
)
"""Simulated annotators, and depth from what they say."""

OASIS_MAKERS = (
    *RECONSTRUCTION,
    "depthgauge.annotate.simulate.oasis_like",
    "depthgauge.annotate.reconstruct.samples",
    "depthgauge.synth.render.closed_form.pictures",
    "depthgauge.synth.render.closed_form.shading",
    "depthgauge.synth.scene.texture",
)
"""What decides the bytes of the set like OASIS."""

_LAYER_TRACERS = (
    "depthgauge.geometry.ray_scene",
    "depthgauge.synth.render._kernels",
    "depthgauge.synth.render._layer_kernels",
    "depthgauge.synth.render._path_kernels",
    "depthgauge.synth.render.denoise",
    "depthgauge.synth.render.embree",
    "depthgauge.synth.render.layered_motion",
    "depthgauge.synth.render.layers",
    "depthgauge.synth.render.lit",
    "depthgauge.synth.render.mitsuba",
    "depthgauge.synth.render.painted",
    "depthgauge.synth.render.refracted_view",
    "depthgauge.synth.scene.camera",
    "depthgauge.synth.scene.light",
    "depthgauge.synth.scene.material",
    "depthgauge.synth.scene.mesh",
    "depthgauge.synth.scene.model",
    "depthgauge.synth.scene.motion",
    "depthgauge.synth.scene.texture",
)
LAYER_MAKERS = (
    *_LAYER_TRACERS,
    "depthgauge.synth.library.environments",
    "depthgauge.synth.library.finishes",
    "depthgauge.synth.library.glassware",
    "depthgauge.synth.library.interiors",
    "depthgauge.synth.sets.layers",
    "!depthgauge.synth.sets.layers._sheet",
)
"""What decides the bytes of a set of `make layers`."""
FINE_TUNERS = (
    *LAYER_MAKERS,
    "depthgauge.datasets.layered",
    "depthgauge.engine.training",
    "depthgauge.methods.nets._packs",
    "depthgauge.methods.nets._torch.blocks",
    "depthgauge.methods.nets._torch.correlation",
    "depthgauge.methods.nets._torch.data",
    "depthgauge.methods.nets._torch.stereo_net",
    "depthgauge.methods.nets._torch.training",
    "src/depthgauge/methods/nets/_weights/stereo.safetensors",
)
"""What decides the weights of a stereo network that was fine-tuned on a set of `make layers`."""
RIG_MAKERS = (
    "depthgauge.datasets._stereogen.poses",
    "depthgauge.datasets._stereogen.writing",
    "depthgauge.io._video_writing",
    "depthgauge.io.video",
    "depthgauge.synth.library.interiors",
    "depthgauge.synth.library.maps",
    "depthgauge.synth.library.subjects",
    "depthgauge.synth.library.surfaces",
    "depthgauge.synth.render._quick_rays",
    "depthgauge.synth.render._shade_kernels",
    "depthgauge.synth.render.lighting",
    "depthgauge.synth.render.shaded",
    "depthgauge.synth.scene.camera",
    "depthgauge.synth.scene.mesh",
    "depthgauge.synth.scene.texture",
    "depthgauge.synth.sets.rig",
)
"""What decides the bytes of a set of `make rig`."""
LAYER_BENCHMARKS = tuple(
    f"{quantity}{of}"
    for quantity in ("flow", "disparity")
    for of in ("", "-first", "-last", "-single")
)

_TRIALS = (
    "depthgauge.engine.scoring.in_memory.arrays",
    "depthgauge.engine.scoring.judge",
    "depthgauge.engine.scoring.in_memory.maps_protocol",
    "depthgauge.engine.scoring.measure",
    "depthgauge.engine.scoring.pool",
    "depthgauge.engine.scoring.prepare",
    "depthgauge.engine.scoring.rules",
    "depthgauge.io._png_chunks",
    "depthgauge.io._values",
    "depthgauge.io.image",
    "depthgauge.io.png",
    "depthgauge.metrics.kernels.errors",
    "depthgauge.metrics.kernels.moments",
    "depthgauge.metrics.kernels.terms",
    "depthgauge.metrics._metric",
    "depthgauge.metrics.fused.columns",
    "depthgauge.metrics.moments",
    "depthgauge.metrics.pixel",
    "depthgauge.metrics.terms",
    "depthgauge.metrics.fused.tiles",
    "depthgauge.quantities",
    "tools.evidence._trials",
)
_PAIRS = ("depthgauge.datasets.plain_folder", "depthgauge.datasets._plain_folder_options")
_STEREO = (
    "depthgauge.methods._images",
    "depthgauge.methods._stereo",
    "depthgauge.methods.bm",
    "depthgauge.methods.constant",
    "depthgauge.methods.sgbm",
)

SOURCES = {
    "bsds500": (
        "src/depthgauge/benchmarks/bsds500.toml",
        "depthgauge.datasets.bsds500",
        "depthgauge.geometry.boundary_maps._thinning_kernels",
        "depthgauge.geometry.boundary_maps.edge_maps",
        "depthgauge.io.mat",
        "depthgauge.methods._edges",
        "depthgauge.metrics.edges._boundary_curves",
        "depthgauge.metrics.kernels.boundaries",
        "depthgauge.metrics._matching",
        "depthgauge.metrics.kernels.matching",
        "depthgauge.metrics.edges.boundaries",
        "tests/golden/bsds/expected.json",
        "tests/golden/bsds/make_inputs.py",
    ),
    "capture-full": (*SIMULATOR, *PIPELINE),
    "capture-thin": (*SIMULATOR, *PIPELINE),
    "capture": (
        *SIMULATOR,
        *PIPELINE,
        "depthgauge.geometry.camera_json",
        "depthgauge.methods.sgbm",
        "depthgauge.methods._stereo",
        "depthgauge.methods._pair",
    ),
    "error-bars": (*SIMULATOR, *PIPELINE, "tools.evidence._bar_sessions"),
    "error-bars-large": (*SIMULATOR, *PIPELINE, "tools.evidence._bar_sessions"),
    "components": (
        "depthgauge.analysis.components",
        "depthgauge.geometry.filling",
        "depthgauge.methods._chain",
        "depthgauge.methods._light_field.surface_kernels",
        "depthgauge.methods._pair",
        "depthgauge.methods._stereo",
        "depthgauge.methods.stereo_chain",
        "depthgauge.synth.sets.stereo_scenes",
    ),
    "hci4d-twin": (
        "src/depthgauge/benchmarks/hci4d-toolkit.toml",
        "depthgauge.benchmarks.twins.hci4d",
        "depthgauge.benchmarks.twins._hci4d_kernels",
        "depthgauge.benchmarks.twins._hci4d_maps",
        "depthgauge.benchmarks.twins._hci4d_pixels",
        "depthgauge.benchmarks.twins._hci4d_regions",
        "depthgauge.geometry.resizing",
        "depthgauge.io.calibrations.light_field_parameters",
        "depthgauge.io.pfm",
        "tests/golden/gen_common.py",
        "tests/golden/hci4d/expected.json",
        "tests/golden/hci4d/make_inputs.py",
    ),
    "hidden-truth": (
        "tools.evidence._attacks",
        "depthgauge.methods._stereo",
        "depthgauge.methods.sgbm",
        "depthgauge.serve.submissions.release",
        "depthgauge.serve.submissions.rounding",
        "depthgauge.synth.sets.stereo_scenes",
    ),
    "gaps": (
        "depthgauge.geometry._distance_kernels",
        "depthgauge.geometry.discontinuities",
        "!depthgauge.geometry.discontinuities.continuity",
        "!depthgauge.geometry.discontinuities._fit_kernels",
        "depthgauge.geometry.distances",
        "tools._occluded_scenes",
        "tools._real_truths",
    ),
    "glass-strength": (
        *_LAYER_TRACERS,
        "depthgauge.geometry.layers",
        "depthgauge.synth.library.environments",
        "depthgauge.synth.library.glassware._bodies",
        "depthgauge.methods._images",
        "depthgauge.methods.dis",
        "depthgauge.methods.peel",
        "depthgauge.metrics.layers",
    ),
    "layers": (
        *LAYER_MAKERS,
        "depthgauge.datasets.layered",
        "depthgauge.geometry.layers",
        "depthgauge.methods._images",
        "depthgauge.methods._stereo",
        "depthgauge.methods.dis",
        "depthgauge.methods.farneback",
        "depthgauge.methods.peel",
        "depthgauge.methods.sgbm",
        "depthgauge.metrics.flow",
        "depthgauge.metrics.layers",
        *(f"src/depthgauge/benchmarks/layers-{name}.toml" for name in LAYER_BENCHMARKS),
    ),
    "confidence": (
        "depthgauge.methods.lf_epi",
        "depthgauge.methods._light_field",
        "depthgauge.metrics.confidence",
        "depthgauge.synth.sets.stratified",
    ),
    "without-truth": (
        "depthgauge.geometry.warping",
        "depthgauge.geometry._kernels",
        "depthgauge.methods._stereo",
        "depthgauge.methods.bm",
        "depthgauge.methods.constant",
        "depthgauge.methods.sgbm",
        "depthgauge.methods.lf_cost_volume",
        "depthgauge.methods.lf_epi",
        "depthgauge.methods.lf_pair",
        "depthgauge.methods._light_field",
        "depthgauge.metrics.bumpiness",
        "depthgauge.metrics.consistency",
        "depthgauge.metrics.views.reconstruction",
        "depthgauge.regions.other_views",
        "depthgauge.synth.library.still_lifes",
        "depthgauge.synth.render.closed_form",
        "depthgauge.synth.sets.stereo_scenes",
        "depthgauge.synth.sets.stratified",
    ),
    "light-field": (
        "depthgauge.methods.lf_cost_volume",
        "depthgauge.methods.lf_epi",
        "depthgauge.methods.lf_pair",
        "depthgauge.methods._light_field.kernels",
        "depthgauge.methods._light_field.surface_kernels",
        "depthgauge.methods._light_field.views",
        "depthgauge.methods._light_field.costs",
        "depthgauge.methods._light_field.noise",
        "depthgauge.methods._light_field.surface",
        "depthgauge.synth.sets.stratified._kernels",
        "depthgauge.synth.sets.stratified._scene",
        "depthgauge.synth.sets.stratified.backgammon",
        "depthgauge.synth.sets.stratified.dots",
        "depthgauge.synth.sets.stratified.pyramids",
        "depthgauge.synth.sets.stratified.stripes",
        "depthgauge.benchmarks.twins.hci4d",
    ),
    "psychometric": ("depthgauge.analysis.difficulty.psychometric",),
    "stratified-axes": (
        "depthgauge.analysis.difficulty",
        "depthgauge.methods.bm",
        "depthgauge.methods.lf_cost_volume",
        "depthgauge.methods.lf_epi",
        "depthgauge.methods.sgbm",
        "depthgauge.methods._light_field.kernels",
        "depthgauge.methods._light_field.surface_kernels",
        "depthgauge.methods._light_field.views",
        "depthgauge.methods._light_field.costs",
        "depthgauge.methods._light_field.noise",
        "depthgauge.methods._light_field.surface",
        "depthgauge.methods._stereo",
        "depthgauge.synth.sets.stratified",
        "src/depthgauge/benchmarks/stratified.toml",
        "src/depthgauge/benchmarks/stratified-stereo.toml",
    ),
    "middlebury-twin": (
        "src/depthgauge/benchmarks/middlebury-toolkit.toml",
        "depthgauge.benchmarks.twins.middlebury",
        "depthgauge.io.calibrations.middlebury_calib",
        "depthgauge.io.pfm",
        "tests/golden/gen_common.py",
        "tests/golden/middlebury/expected.json",
        "tests/golden/middlebury/make_inputs.py",
    ),
    "oasis-advice": (
        *RECONSTRUCTION,
        "depthgauge.annotate.advising",
        "depthgauge.synth.render.embree",
        "depthgauge.synth.scene",
    ),
    "oasis-fusion": (
        *RECONSTRUCTION,
        "depthgauge.annotate.fusing",
        "depthgauge.synth.render.embree",
        "depthgauge.synth.scene",
    ),
    "oasis-like": (
        *OASIS_MAKERS,
        "depthgauge.synth.render.embree",
        "depthgauge.synth.scene",
        "depthgauge.datasets._oasis.estimates",
        "depthgauge.datasets._oasis.reading",
        "depthgauge.datasets._oasis.writing",
        "depthgauge.metrics.edges._boundary_curves",
        "depthgauge.metrics.kernels.boundaries",
        "depthgauge.metrics.kernels.local_scale",
        "depthgauge.metrics._matching",
        "depthgauge.metrics.kernels.matching",
        "depthgauge.metrics.kernels.planes",
        "depthgauge.metrics.average_precision",
        "depthgauge.metrics.edges.boundaries",
        "depthgauge.metrics.local_scale",
        "depthgauge.metrics.normals",
        "depthgauge.metrics.ordinal",
        "depthgauge.metrics.planes",
        "depthgauge.metrics.relations",
        "depthgauge.geometry.boundary_maps.edge_maps",
        "depthgauge.geometry.boundary_maps.thinning",
        "depthgauge.methods._edges",
        "depthgauge.methods.edges_all_fold",
        "depthgauge.methods.edges_all_occlusion",
        "depthgauge.methods.front_facing",
        "depthgauge.methods.plane",
    ),
    "oasis-reconstruction": (
        *RECONSTRUCTION,
        "depthgauge.synth.render.embree",
        "depthgauge.synth.scene",
        "depthgauge.metrics.ordinal",
        "tools.evidence._oasis_ball",
        "tools.evidence._oasis_more",
        "tools.evidence._oasis_people",
    ),
    "quiz": (
        *RECONSTRUCTION,
        "depthgauge.serve.annotating.quizzes",
        "depthgauge.synth.render.embree",
        "depthgauge.synth.scene",
    ),
    "real-maps": (
        "depthgauge.io._png_chunks",
        "depthgauge.io._values",
        "depthgauge.io.npy",
        "depthgauge.io.png",
        "depthgauge.metrics.kernels.errors",
        "depthgauge.metrics.kernels.moments",
        "depthgauge.metrics.kernels.terms",
        "depthgauge.metrics._metric",
        "depthgauge.metrics.fused.columns",
        "depthgauge.metrics.depth",
        "depthgauge.metrics.flow",
        "depthgauge.metrics.moments",
        "depthgauge.metrics.pixel",
        "depthgauge.metrics.terms",
        "depthgauge.metrics.fused.tiles",
        "depthgauge.quantities",
    ),
    "rig": (
        *RIG_MAKERS,
        "depthgauge.engine.auditing",
        "depthgauge.engine.generating.rig_statistics",
    ),
    "stereogen": (
        *RIG_MAKERS,
        "depthgauge.analysis.baselines",
        "depthgauge.analysis.strata",
        "depthgauge.datasets.stereogenbench",
        "depthgauge.engine.running.controls",
        "depthgauge.geometry.disparity",
        "depthgauge.methods._views",
        "depthgauge.methods.copy_left",
        "depthgauge.methods.ground_plane",
        "depthgauge.methods.shift",
        "depthgauge.methods.warp_estimated",
        "depthgauge.methods.warp_inpaint",
        "depthgauge.metrics.views",
        "src/depthgauge/benchmarks/stereogenbench.toml",
        "src/depthgauge/benchmarks/stereogenbench-unseen.toml",
    ),
    "tags": (*TAG_SIMULATOR, *TAG_PIPELINE),
    "registration": (
        *SIMULATOR,
        "depthgauge.capture._spline_kernels",
        "depthgauge.capture.calibrate",
        "depthgauge.capture.exact_truth",
        "depthgauge.capture.photographs",
        "depthgauge.capture.rectify",
        "depthgauge.capture.register",
        "depthgauge.capture.spacetime",
        "!depthgauge.capture.spacetime.engines.learned",
        "!depthgauge.capture.spacetime.engines.nets_checked",
        "!depthgauge.capture.spacetime.engines.nets_stereo",
        "depthgauge.geometry.projection",
        "depthgauge.geometry.rectified",
    ),
    "networks": (
        *_TRIALS,
        *_STEREO,
        *_PAIRS,
        "tools.evidence.trials_flow",
        "tools.evidence.trials_middlebury",
        "docs/evidence/trials/trial-flow.toml",
        "docs/evidence/trials/trial-middlebury-2001.toml",
        "docs/evidence/trials/trial-middlebury-2014.toml",
        "depthgauge.datasets.middlebury_2001",
        "depthgauge.datasets.middlebury_2014",
        "depthgauge.methods.dis",
        "depthgauge.methods.farneback",
        "depthgauge.methods.nets._networks",
        "depthgauge.methods.nets._torch.blocks",
        "depthgauge.methods.nets._torch.correlation",
        "depthgauge.methods.nets._torch.flow_net",
        "depthgauge.methods.nets._torch.inference",
        "depthgauge.methods.nets._torch.stereo_net",
        "depthgauge.methods.nets.flow",
        "depthgauge.methods.nets.stereo",
        "depthgauge.metrics.flow",
        "src/depthgauge/methods/nets/_weights/flow.safetensors",
        "src/depthgauge/methods/nets/_weights/stereo.safetensors",
    ),
    "networks-difficulty": (
        "depthgauge.analysis.difficulty",
        "depthgauge.methods._stereo",
        "depthgauge.methods.bm",
        "depthgauge.methods.nets._networks",
        "depthgauge.methods.nets._torch.blocks",
        "depthgauge.methods.nets._torch.correlation",
        "depthgauge.methods.nets._torch.inference",
        "depthgauge.methods.nets._torch.stereo_net",
        "depthgauge.methods.nets.stereo",
        "depthgauge.methods.sgbm",
        "depthgauge.synth.sets.stratified",
        "src/depthgauge/benchmarks/stratified-stereo.toml",
        "tools.evidence._trials",
        "src/depthgauge/methods/nets/_weights/stereo.safetensors",
    ),
    "networks-fine-tune": (
        *FINE_TUNERS,
        "tools.evidence._rooms",
        *_TRIALS,
        *_STEREO,
        "docs/evidence/trials/trial-middlebury-2001.toml",
        "depthgauge.datasets.middlebury_2001",
        "depthgauge.methods.nets._networks",
        "depthgauge.methods.nets._torch.inference",
        "depthgauge.methods.nets.stereo",
        "src/depthgauge/benchmarks/layers-disparity-first.toml",
    ),
    "networks-refine": (
        *SIMULATOR,
        "depthgauge.capture.audit.error_figures",
        "depthgauge.capture.calibrate",
        "depthgauge.capture.exact_truth",
        "depthgauge.capture.rectify",
        "depthgauge.capture.refine",
        "depthgauge.capture.spacetime.engines._cost_kernels",
        "depthgauge.capture.spacetime.engines._path_kernels",
        "depthgauge.capture.spacetime.engines._shift_kernels",
        "depthgauge.capture.spacetime.engines.classical",
        "depthgauge.capture.spacetime.eye",
        "depthgauge.capture.spacetime.patterns",
        "src/depthgauge/capture/refine/engines/_weights/bimodal.safetensors",
        "tools.evidence.networks_spacetime",
    ),
    "networks-spacetime": (
        *SIMULATOR,
        "depthgauge.capture.audit.error_figures",
        "depthgauge.capture.calibrate",
        "depthgauge.capture.exact_truth",
        "depthgauge.capture.rectify",
        "depthgauge.capture.spacetime.engines",
        "depthgauge.capture.spacetime.eye",
        "depthgauge.capture.spacetime.patterns",
        "depthgauge.methods.nets._networks",
        "depthgauge.methods.nets._torch.blocks",
        "depthgauge.methods.nets._torch.correlation",
        "depthgauge.methods.nets._torch.spacetime",
        "depthgauge.methods.nets._torch.stereo_net",
        "src/depthgauge/methods/nets/_weights/stereo.safetensors",
    ),
    "networks-synthetic": (
        "depthgauge.methods.nets._torch.blocks",
        "depthgauge.methods.nets._torch.correlation",
        "depthgauge.methods.nets._torch.data",
        "depthgauge.methods.nets._torch.flow_net",
        "depthgauge.methods.nets._torch.inference",
        "depthgauge.methods.nets._torch.stereo_net",
        "depthgauge.methods.nets._torch.training.losses",
        "src/depthgauge/methods/nets/_weights/flow.safetensors",
        "src/depthgauge/methods/nets/_weights/stereo.safetensors",
    ),
    "networks-layers": (
        *LAYER_MAKERS,
        "tools.evidence._rooms",
        "tools.evidence._trials",
        "depthgauge.datasets.layered",
        "depthgauge.methods._images",
        "depthgauge.methods.dis",
        "depthgauge.methods.farneback",
        "depthgauge.methods.nets._networks",
        "depthgauge.methods.nets._torch.blocks",
        "depthgauge.methods.nets._torch.correlation",
        "depthgauge.methods.nets._torch.flow_net",
        "depthgauge.methods.nets._torch.inference",
        "depthgauge.methods.nets.flow",
        "depthgauge.methods.nets.layers",
        "depthgauge.methods.peel",
        "depthgauge.metrics.layers",
        "src/depthgauge/benchmarks/layers-flow.toml",
        "src/depthgauge/methods/nets/_weights/flow.safetensors",
        "src/depthgauge/methods/nets/_weights/layers.safetensors",
    ),
    "trials-flow": (
        *_TRIALS,
        *_PAIRS,
        "docs/evidence/trials/trial-flow.toml",
        "depthgauge.io.flo",
        "depthgauge.methods._images",
        "depthgauge.methods.constant",
        "depthgauge.methods.dis",
        "depthgauge.methods.farneback",
        "depthgauge.metrics.flow",
    ),
    "trials-kitti": (
        *_TRIALS,
        *_PAIRS,
        "docs/evidence/trials/trial-kitti-disparity.toml",
        "docs/evidence/trials/trial-kitti-disparity-skip.toml",
        "docs/evidence/trials/trial-kitti-disparity-filled.toml",
        "docs/evidence/trials/trial-flow.toml",
        "depthgauge.geometry._kernels",
        "depthgauge.geometry.filling",
        "depthgauge.methods.folder",
        "depthgauge.metrics.flow",
    ),
    "trials-middlebury": (
        *_TRIALS,
        *_STEREO,
        "docs/evidence/trials/trial-middlebury-2001.toml",
        "docs/evidence/trials/trial-middlebury-2014.toml",
        "depthgauge.datasets.middlebury_2001",
        "depthgauge.datasets.middlebury_2014",
        "depthgauge.geometry._kernels",
        "depthgauge.geometry.filling",
        "depthgauge.geometry.warping",
        "depthgauge.io.jpeg",
        "depthgauge.io.npz",
        "depthgauge.io.pfm",
        "depthgauge.metrics.kernels.order",
        "depthgauge.metrics.order",
        "depthgauge.metrics.quantiles",
        "depthgauge.regions.visibility",
    ),
    "trials-nyu": (
        *_TRIALS,
        *_PAIRS,
        "docs/evidence/trials/trial-nyu.toml",
        "docs/evidence/trials/trial-nyu-median.toml",
        "docs/evidence/trials/trial-nyu-scale-shift.toml",
        "depthgauge.geometry._kernels",
        "depthgauge.geometry.alignment",
        "depthgauge.io.npy",
        "depthgauge.methods.constant",
        "depthgauge.methods.folder",
        "depthgauge.metrics.depth",
    ),
    "trials-public": (
        *_TRIALS,
        *_STEREO,
        "src/depthgauge/benchmarks/middlebury-2001-2006.toml",
        "src/depthgauge/benchmarks/middlebury-flow.toml",
        "src/depthgauge/benchmarks/kitti-2015-flow.toml",
        "src/depthgauge/benchmarks/kitti-2015-stereo.toml",
        "depthgauge.datasets.middlebury_2001",
        "depthgauge.geometry.discontinuities",
        "depthgauge.geometry.filling",
        "depthgauge.methods.dis",
        "depthgauge.methods.farneback",
        "depthgauge.methods.folder",
        "depthgauge.metrics.flow",
        "depthgauge.regions.discontinuities",
        "depthgauge.regions.visibility",
        "depthgauge.datasets.pairs.kitti_2015",
        "depthgauge.datasets.pairs.middlebury_flow",
        "examples/mccnn.py",
        "examples/nvtiny.py",
    ),
    "trials-others": (
        *_TRIALS,
        *_STEREO,
        "docs/evidence/trials/trial-inverse-depth.toml",
        "src/depthgauge/benchmarks/hci4d.toml",
        "src/depthgauge/benchmarks/sintel-stereo.toml",
        "depthgauge.datasets.hci4d",
        "depthgauge.datasets.pairs.sintel",
        "depthgauge.geometry.alignment",
        "depthgauge.geometry.warping",
        "depthgauge.methods._light_field",
        "depthgauge.methods.constant",
        "depthgauge.methods.dis",
        "depthgauge.methods.farneback",
        "depthgauge.methods.folder",
        "depthgauge.methods.lf_cost_volume",
        "depthgauge.methods.lf_epi",
        "depthgauge.methods.lf_pair",
        "depthgauge.metrics.consistency.view_prediction",
        "depthgauge.metrics.depth",
        "examples/mccnn.py",
        "examples/nvtiny.py",
        "examples/tcmonodepth.py",
    ),
    "trials-opencv": (
        *_TRIALS,
        *_PAIRS,
        *_STEREO,
        "docs/evidence/trials/trial-opencv.toml",
        "depthgauge.geometry._kernels",
        "depthgauge.geometry.filling",
        "depthgauge.io.pfm",
        "tools.evidence._sgbm_rounded",
    ),
}


class SourceMissing(Exception):
    """A listed source does not exist; the message says what to do."""

    def __init__(self, name: str, homes: Iterable[str] = ()) -> None:
        self.name = name
        now = f" Its definitions are now in {', '.join(homes)}." if homes else ""
        super().__init__(
            f"tools/evidence/_sources.py lists {name}, which does not exist. If its code moved, "
            f"list the module that has it now.{now}"
        )


def files(names: Iterable[str]) -> dict[str, tuple[Path, ...]]:
    """The files of each listed source, by its name.

    Raises:
        SourceMissing: There is no such module or file.
    """
    names = list(dict.fromkeys(names))
    without = _left_out(names)
    return {
        name: tuple(file for file in _files(name) if file not in without)
        for name in names
        if not name.startswith("!")
    }


def left_out(names: Iterable[str]) -> set[str]:
    """The modules that a list of sources leaves out, whatever an older record has of them."""
    return {_shown(file) for file in _left_out(names)}


def _left_out(names: Iterable[str]) -> set[Path]:
    return {f for name in names if name.startswith("!") for f in _files(name[1:])}


def _files(name: str) -> tuple[Path, ...]:
    if "/" not in name:
        found = files_of(name)
    else:
        found = (_code.REPOSITORY / name,) if (_code.REPOSITORY / name).is_file() else ()
    if not found:
        raise SourceMissing(name)
    return found


def code_by_file(names: Iterable[str]) -> dict[str, Code]:
    """The definitions of all listed sources, by module or file; each file once."""
    found = dict.fromkeys(file for several in files(names).values() for file in several)
    return {_shown(file): code_of(file) for file in found}


def digest(names: Iterable[str]) -> str:
    """A short hash of the code of all listed sources."""
    return _code.digest(total(code_by_file(names).values()))


def all_code() -> Code:
    """The definitions of the package and of these programs."""
    return total(code_of(file) for name in ("depthgauge", "tools") for file in files_of(name))


def homes(recorded: Code) -> list[str]:
    """The modules that have recorded definitions now, those with most of them first."""
    found = {_shown(f): (code_of(f) & recorded).total() for f in files_of("depthgauge")}
    return sorted((name for name, count in found.items() if count), key=lambda n: (-found[n], n))


def _shown(file: Path) -> str:
    """A module's dotted name, or the path of another file in the repository."""
    place = file.relative_to(_code.REPOSITORY)
    if place.suffix != ".py" or place.parts[0] == "tests":
        return place.as_posix()
    parts = place.with_suffix("").parts
    return ".".join(parts[1:] if parts[0] == "src" else parts).removesuffix(".__init__")
