"""The processes of methods within a run: who is blamed, who is asked again, what is hidden."""

import re
import sys

import numpy as np
import pytest

from depthgauge.benchmarks import make_protocol
from depthgauge.datasets import DATASETS, things_hash
from depthgauge.datasets.manifest_folder import write
from depthgauge.engine.running.data_check import clip_hashes, reported
from depthgauge.engine.running.hiding import hidden_from
from depthgauge.engine.running.run import run
from depthgauge.engine.running.task import Context
from depthgauge.engine.scoring.evaluate import evaluate
from depthgauge.engine.scoring.rules import Rules
from depthgauge.engine.store.load import load_run
from depthgauge.errors import BadData, BadFile, UnreadableInput
from depthgauge.methods import find_method
from depthgauge.types import Frames, Inputs, Sample, Truth

SIZE = (6, 8)


def image(index):
    return np.full((*SIZE, 3), 10 * index, np.uint8)


def sample(name, length=3):
    inputs = {"left_image": Frames([image(i) for i in range(length)])}
    truth = {"depth": Frames([np.full(SIZE, 2.0 + i, np.float32) for i in range(length)])}
    return Sample(name, Inputs(inputs), Truth(truth))


@pytest.fixture
def clips(tmp_path):
    write(tmp_path / "clips", map(sample, "ab"), id="clips", title="Clips", licence="CC0")
    return tmp_path / "clips"


@pytest.fixture
def depth():
    scores = [{"metric": "mae"}]
    body = {"id": "clips", "version": 1, "dataset": "depthgauge", "quantity": "depth"}
    return make_protocol({**body, "pool": "image", "scores": scores}, "test")


def near(folder):
    path = folder / "near.py"
    path.write_text("def estimate(inputs):\n    return 2 + inputs['left_image'][..., 0] / 10\n")
    return str(path)


@pytest.mark.parametrize("workers", [0, pytest.param(1, marks=pytest.mark.long)])
def test_a_frame_that_cannot_be_read_is_not_the_method_s_failure(clips, depth, tmp_path, workers):
    damaged = clips / "a/inputs/left_image/000002.png"
    kept = damaged.read_bytes()
    damaged.write_bytes(b"?" * len(kept))
    call = (depth, clips, [near(tmp_path)], tmp_path / "run")
    with pytest.raises(BadData, match=damaged.name):
        run(*call, workers=workers)
    assert len(list((tmp_path / "run" / "items").glob("*.json"))) == 1  # the run went on
    damaged.write_bytes(kept)
    done = run(*call, workers=workers)
    assert not done.results["near", 0].failed
    assert done.results["near", 0].summary["mae@all"].value == 0


@pytest.mark.long
def test_a_file_that_is_not_the_listed_one_is_used_only_if_trusted(clips, depth, tmp_path):
    place = clips / "a/truth/depth/000001.npy"
    np.save(place, np.full(SIZE, 4.0, np.float32))  # of the same size, and wrong
    call = (depth, clips, [near(tmp_path)], tmp_path / "run")
    with pytest.raises(BadData, match=r"near: a: .*000001\.npy: its SHA-256 is not"):
        run(*call, workers=1)
    done = run(*call, workers=1, trust=True)
    assert done.results["near", 0].samples["a"]["mae@all"].value == pytest.approx(1 / 3)
    with pytest.raises(BadFile, match="its SHA-256 is not"):
        evaluate(depth, clips, tmp_path / "run" / "estimates" / "near")
    assert evaluate(depth, clips, tmp_path / "run" / "estimates" / "near", trust=True).samples


def test_a_bad_estimate_does_not_cost_the_process(pairs, trial, tmp_path):
    log = tmp_path / "log"
    head = f"open({str(log)!r}, 'a').write('loaded ')"
    body = "return 'none' if inputs['sample'] == 's0' else np.ones((h, w))"
    name = pairs.method("loads", body, head)
    made = {"workers": 1, "only": ["s0", "s1", "s2"]}
    done = run(trial(), pairs.data, [name], tmp_path / "run", **made)
    assert set(done.results["loads", 0].failed) == {"s0"}
    assert log.read_text().split() == ["loaded"] * 2  # once to be described, once to be run


def test_a_clip_is_read_once_and_hashed_as_a_whole():
    reads = []

    def load(index):
        reads.append(index)
        return image(index)

    frames = Frames([lambda i=i: load(i) for i in range(4)])
    inputs = reported(Inputs({"left_image": frames}))
    for index in (0, 1, 1, 2):
        assert (inputs["left_image"][index] == image(index)).all()
    assert clip_hashes(inputs) == {"left_image": things_hash({"": Frames(map(image, range(4)))})}
    assert reads == [0, 1, 1, 2, 3]


def test_an_error_of_a_loader_says_that_it_is_no_fault_of_a_method():
    def refuse():
        raise BadFile("a.png: is damaged.")

    def lose():
        raise OSError("gone")

    inputs = reported(Inputs({"one": refuse, "two": lose, "clip": Frames([refuse])}))
    with pytest.raises(UnreadableInput, match=r"a\.png: is damaged"):
        inputs["one"]
    with pytest.raises(UnreadableInput, match=r"an input cannot be read \(OSError: gone\)"):
        inputs["two"]
    with pytest.raises(UnreadableInput, match=r"a\.png: is damaged"):
        inputs["clip"][0]


def test_a_folder_of_estimates_reads_no_clips(clips, depth, tmp_path):
    run(depth, clips, [near(tmp_path)], tmp_path / "run", workers=0)
    for path in clips.rglob("*.png"):
        path.write_bytes(b"?" * path.stat().st_size)
    estimates = f"folder:{tmp_path / 'run' / 'estimates' / 'near'}"
    done = run(depth, clips, [estimates], tmp_path / "other", workers=0)
    assert done.results["near", 0].summary["mae@all"].value == 0
    assert load_run(tmp_path / "other").results


@pytest.fixture
def context(pairs, trial, tmp_path):
    samples = list(DATASETS["folder"].samples(pairs.data))
    (tmp_path / "run").mkdir()
    rules = Rules.of(trial(), samples)
    return Context(tmp_path / "run", rules, "folder", (), data=pairs.data, isolate=True)


@pytest.mark.parametrize(
    "text",
    [
        "command:python {data}/code/infer.py {{left}} {{out}}",
        "command:python infer.py --weights={data}/code/infer.py {{left}} {{out}}",
        "command:python infer.py '{data}/code/with space' {{left}} {{out}}",
    ],
)
def test_what_the_options_of_a_method_name_stays_visible(pairs, context, text):
    (pairs.data / "code" / "with space").mkdir(parents=True)
    (pairs.data / "code" / "infer.py").touch()
    hidden, why = hidden_from(find_method(text.format(data=pairs.data)), context)
    assert hidden == [context.folder]
    assert re.search(rf"{pairs.data} holds '.*', which the options of 'infer' name", why)
    both = [pairs.data, context.folder]
    elsewhere = "command:python infer.py {left} {out}"
    assert hidden_from(find_method(elsewhere), context) == (both, "")


def test_the_working_folder_stays_visible(pairs, context, monkeypatch):
    monkeypatch.chdir(pairs.data / "left")
    hidden, why = hidden_from(find_method("constant"), context)
    assert hidden == [context.folder]
    assert why == f"{pairs.data} holds the working folder; move one of them"
    monkeypatch.chdir(pairs.data.parent)
    assert hidden_from(find_method("constant"), context) == ([pairs.data, context.folder], "")


def test_a_program_in_the_data_folder_runs(pairs, trial, tmp_path):
    (pairs.data / "infer.py").write_text(
        "import sys, numpy as np\nnp.save(sys.argv[1], np.ones((24, 40), np.float32))\n"
    )
    program = f"command:{sys.executable} {pairs.data}/infer.py {{out}}"
    done = run(trial(), pairs.data, [program], tmp_path / "run", workers=1, only=["s0"])
    assert not done.results["infer", 0].failed
