"""Clips: samples whose items are sequences of frames."""

import gc
import json
import math
import sys
import weakref

import numpy as np
import pytest

import depthgauge as dg
from depthgauge.benchmarks.protocol import make_protocol
from depthgauge.datasets import DATASETS
from depthgauge.datasets.manifest_folder import manifest_hash, verify, write
from depthgauge.engine.scoring.judge import Judge
from depthgauge.engine.scoring.rules import Rules
from depthgauge.errors import WrongShape
from depthgauge.metrics import METRICS, metric
from depthgauge.perturbations import perturb_image, perturb_inputs
from depthgauge.types import ClipEstimate, Estimate, Frames, Inputs, Sample, State, Truth
from depthgauge.units import Unit

SIZE = (6, 8)
LENGTH = 4
BENCHMARK = """
id = "clips"
version = 1
dataset = "depthgauge"
quantity = "depth"
pool = "image"
[[scores]]
metric = "mae"
[[scores]]
metric = "quantile"
percent = 50
[[scores]]
metric = "density"
"""


def truth_of(index):
    depth = np.full(SIZE, 2.0 + index, np.float32)
    depth[0, 0] = np.nan
    return depth


def image_of(index):
    return np.full((*SIZE, 3), 10 * index, np.uint8)


def clip(name="street", length=LENGTH):
    inputs = {"left_image": Frames([lambda i=i: image_of(i) for i in range(length)]), "speed": 3}
    truth = {"depth": Frames([lambda i=i: truth_of(i) for i in range(length)])}
    return Sample(name, Inputs(inputs), Truth(truth))


@pytest.fixture
def data(tmp_path):
    still = Sample("still", Inputs({"left_image": image_of(0)}), Truth({"depth": truth_of(0)}))
    write(tmp_path / "data", [clip(), still], id="clips", title="Clips", licence="CC0")
    return tmp_path / "data"


@pytest.fixture
def benchmark(tmp_path):
    path = tmp_path / "clips.toml"
    path.write_text(BENCHMARK)
    return path


def protocol(**changes):
    body = {
        "id": "clips",
        "version": 1,
        "dataset": "depthgauge",
        "quantity": "depth",
        "pool": "image",
        "scores": [{"metric": "mae"}, {"metric": "quantile", "percent": 50}],
    }
    return make_protocol({**body, **changes}, "test")


def test_frames_are_read_one_by_one_and_kept_by_nobody():
    alive = []

    class Frame:
        pass

    def load():
        frame = Frame()
        alive.append(weakref.ref(frame))
        return frame

    most = 0
    for frame in Frames([load] * 5):
        gc.collect()
        most = max(most, sum(ref() is not None for ref in alive))
        del frame
    assert (len(alive), most) == (5, 1)


def test_a_clip_gives_its_frames_as_samples():
    sample = clip()
    frames = list(sample.frames())
    assert sample.length == LENGTH
    assert [frame.id for frame in frames][:2] == ["street/000000", "street/000001"]
    assert (frames[2].truth["depth"][1, 1], frames[2].inputs["speed"]) == (4.0, 3)
    assert frames[1].length is None
    assert list(frames[1].frames()) == [frames[1]]


def test_items_of_different_lengths_are_refused():
    inputs = Inputs({"left_image": Frames([1, 2])})
    sample = Sample("x", inputs, Truth({"depth": Frames([1, 2, 3])}))
    with pytest.raises(WrongShape, match=r"x: the items of a clip .* depth 3, left_image 2"):
        sample.frames().__next__()


def test_a_dataset_folder_holds_clips(data):
    assert verify(data) == []
    back = {sample.id: sample for sample in DATASETS["depthgauge"].samples(data, "all")}
    assert (back["street"].length, back["still"].length) == (LENGTH, None)
    for index, frame in enumerate(back["street"].frames()):
        np.testing.assert_array_equal(frame.truth["depth"], truth_of(index))
        np.testing.assert_array_equal(frame.inputs["left_image"], image_of(index))
    manifest = json.loads((data / "dataset.json").read_text())
    assert "frames" not in manifest["samples"]["still"]["truth"]["depth"]
    (data / "street/truth/depth/000002.npy").write_bytes(b"x")
    assert [problem.where for problem in verify(data)] == ["street/truth/depth/000002.npy"]


def test_the_state_of_a_clip_is_the_sum_of_its_frames():
    sample, made = clip(), protocol()
    judge = Judge(Rules.of(made, [sample]))
    estimate = ClipEstimate(
        Frames([Estimate(truth_of(i) + np.float32(i), "depth") for i in range(LENGTH)]), "depth"
    )
    outcome = judge.score_map(sample, lambda: estimate)
    pixels = LENGTH * (math.prod(SIZE) - 1)
    assert outcome.scores["mae@all"].count == pixels
    assert outcome.scores["mae@all"].value == pytest.approx(1.5)
    assert outcome.scores["quantile:50@all"].value == pytest.approx(1.5)
    assert outcome.curve.count == pixels
    assert len(outcome.truth_hash) == 64
    assert judge.hash_of(sample) == outcome.truth_hash


def test_a_frame_without_an_estimate_is_missing():
    sample = clip()
    judge = Judge(Rules.of(protocol(), [sample]))
    short = ClipEstimate(Frames([Estimate(truth_of(0), "depth"), None]), "depth")
    score = judge.score_map(sample, lambda: short).scores["mae@all"]
    one = math.prod(SIZE) - 1
    assert (score.count, score.missing) == (one, 3 * one)


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (Estimate(truth_of(0), "depth"), "one map, but the sample is a clip"),
        (ClipEstimate(Frames([None] * 9), "depth"), "9 frames for a clip of 4"),
    ],
)
def test_what_is_no_estimate_of_the_clip_fails_it(found, said):
    sample = clip()
    outcome = Judge(Rules.of(protocol(), [sample])).score_map(sample, lambda: found)
    assert said in outcome.failed
    assert outcome.scores["mae@all"].missing == LENGTH * (math.prod(SIZE) - 1)


def steps(inputs):
    """A method that yields a map per frame."""
    for image in inputs["left_image"]:
        yield np.full(SIZE, 2.0 + image[0, 0, 0] / 10, np.float32)


def of_any(inputs, options=None):
    """A method that knows single pictures only."""
    return np.full(SIZE, 2.0 + inputs["left_image"][0, 0, 0] / 10, np.float32)


def grey(inputs):
    return np.float32(1.0) + inputs["left_image"][..., 0]


def test_a_generator_is_given_the_whole_clip(data, benchmark, tmp_path):
    run = dg.run(benchmark, data, [steps], tmp_path / "run", workers=0, only=["street"])
    assert run.results["steps", 0].samples["street"]["mae@all"].value == 0.0


def test_a_baseline_runs_on_the_frames_of_a_clip(tmp_path):
    rng = np.random.default_rng(3)
    left = [rng.integers(0, 255, (64, 256, 3), np.uint8) for _ in range(2)]
    right = [np.roll(image, -5, axis=1) for image in left]
    inputs = {"left_image": Frames(left), "right_image": Frames(right)}
    truth = Truth({"disparity": Frames([np.full((64, 256), 5, np.float32)] * 2)})
    pairs = [Sample("street", Inputs(inputs), truth)]
    write(tmp_path / "data", pairs, id="clips", title="Clips", licence="CC0")
    path = tmp_path / "stereo.toml"
    path.write_text(BENCHMARK.replace('"depth"', '"disparity"'))
    run = dg.run(path, tmp_path / "data", ["sgbm"], tmp_path / "run", workers=0)
    score = run.results["sgbm", 0].samples["street"]["quantile:50@all"]
    assert score.value < 0.1
    assert score.count > 64 * 256


def test_every_frame_is_perturbed_when_it_is_read(data, benchmark, tmp_path):
    damaged = perturb_inputs(clip().inputs, "noise:5", "street")
    frames = damaged["left_image"]
    assert isinstance(frames, Frames)
    for index, frame in enumerate(frames):
        alone = perturb_image(
            image_of(index), "noise:5", sample_id=f"street/{index:06d}", item="left_image"
        )
        assert (frame == alone).all()
        assert (frame != image_of(index)).any()
    changes = {"perturb": "noise:5"}
    run = dg.run(protocol(**changes), data, [grey], tmp_path / "run", workers=0)
    plain = dg.run(protocol(), data, [grey], tmp_path / "plain", workers=0)
    noisy, clean = (r.results["grey", 0].samples["street"]["mae@all"] for r in (run, plain))
    assert noisy.value != clean.value


def test_a_method_runs_on_clips_and_its_frames_are_kept(data, benchmark, tmp_path):
    run = dg.run(benchmark, data, [of_any], tmp_path / "run", workers=0)
    result = run.results["of_any", 0]
    assert result.samples["street"]["mae@all"].value == 0.0
    assert result.samples["still"]["mae@all"].value == 0.0
    kept = tmp_path / "run/estimates/of_any/street"
    assert sorted(p.name for p in kept.iterdir()) == [
        *(f"{i:06d}" for i in range(LENGTH)),
        "estimate.json",
    ]
    again = dg.evaluate(benchmark, data, tmp_path / "run/estimates/of_any")
    assert again.samples["street"]["mae@all"].value == 0.0
    folder = dg.run(benchmark, data, [f"folder:{kept.parent}"], tmp_path / "second", workers=0)
    assert folder.results["of_any", 0].samples["street"]["mae@all"].value == 0.0
    np.save(kept / "000001/depth.npy", np.full(SIZE, 9.0, np.float32))
    worse = dg.evaluate(benchmark, data, kept.parent)
    assert worse.samples["street"]["mae@all"].value == pytest.approx(1.5)
    (kept / "000001/depth.npy").unlink()
    fewer = dg.evaluate(benchmark, data, kept.parent)
    assert fewer.samples["street"]["mae@all"].missing == math.prod(SIZE) - 1


def test_a_command_is_run_for_each_frame_of_a_clip(data, benchmark, tmp_path):
    (tmp_path / "near.py").write_text(
        "import sys, cv2, numpy as np\n"
        "grey = cv2.imread(sys.argv[1])[..., 0].astype(np.float32)\n"
        "np.save(sys.argv[2], 2 + grey / 10)\n"
    )
    program = f"near=command:{sys.executable} {tmp_path / 'near.py'} {{left}} {{out}}"
    run = dg.run(benchmark, data, [program], tmp_path / "run", workers=0, only=["street"])
    score = run.results["near", 0].samples["street"]["mae@all"]
    assert (score.value, score.missing) == (0.0, 0)


def test_metrics_over_a_clip_get_the_frame_before():
    @metric(
        "own_flicker",
        unit=Unit.QUANTITY,
        better="lower",
        bounds=(0, math.inf),
        of=("depth",),
        cite="common",
        formula="mean |change of the error|",
        revision=1,
        needs=("previous_estimate", "previous_truth"),
    )
    class Flicker:
        """Mean change of the error from frame to frame.

        >>> 1
        1
        """

        def measure(estimate, truth, region, *, previous_estimate, previous_truth):
            change = np.abs((estimate - truth) - (previous_estimate - previous_truth))[region]
            return State(int(region.sum()), 0, np.array([float(change.sum())]))

        def finish(state, *, missing):
            return state.sums[0] / state.count if state.count else math.nan

    try:
        sample = clip()
        judge = Judge(Rules.of(protocol(scores=[{"metric": "own_flicker"}]), [sample]))
        estimate = ClipEstimate(
            Frames([Estimate(truth_of(i) + np.float32(i % 2), "depth") for i in range(LENGTH)]),
            "depth",
        )
        outcome = judge.score_map(sample, lambda: estimate)
    finally:
        METRICS._things.pop("own_flicker")
        METRICS._homes.pop("own_flicker")
    score = outcome.scores["own_flicker@all"]
    assert score.count == (LENGTH - 1) * (math.prod(SIZE) - 1)
    assert score.value == pytest.approx(1.0)
    assert outcome.left_out == ()


def test_a_clip_without_any_estimate_is_named(data, benchmark, tmp_path):
    (tmp_path / "none/still").mkdir(parents=True)
    np.save(tmp_path / "none/still/depth.npy", truth_of(0))
    result = dg.evaluate(benchmark, data, tmp_path / "none")
    assert "no estimate for any frame of 'street'" in result.failed["street"]


def test_the_hash_of_a_folder_without_clips_is_as_before(tmp_path):
    still = Sample("still", Inputs({"left_image": image_of(0)}), Truth({"depth": truth_of(0)}))
    write(tmp_path, [still], id="a", title="A", licence="CC0")
    item = json.loads((tmp_path / "dataset.json").read_text())["samples"]["still"]["truth"]["depth"]
    assert "frames" not in item
    assert len(manifest_hash(tmp_path)) == 64
