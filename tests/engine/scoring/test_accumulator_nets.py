"""Accumulators in loops of PyTorch: tensors, gradients, workers, processes, a GPU."""

import io
import pickle

import numpy as np
import pytest

import depthgauge as dg
from depthgauge.benchmarks import make_protocol
from depthgauge.engine.scoring.in_memory import accumulator as module
from depthgauge.engine.scoring.in_memory.device_sums import DevicePlan

torch = pytest.importorskip("torch", reason="needs depthgauge[nets]: make test-nets")
pytestmark = pytest.mark.nets

METRICS = ["badpix:1", "badpix:3", "d1", "mae", "rms"]


def maps(n=8, size=(48, 64), seed=0):
    rng = np.random.default_rng(seed)
    truth = rng.uniform(1, 60, (n, *size)).astype(np.float32)
    estimate = truth + (np.round(rng.normal(0, 8, truth.shape)) / 4).astype(np.float32)
    truth[rng.random(truth.shape) < 0.3] = np.nan
    estimate[rng.random(truth.shape) < 0.05] = np.nan
    return estimate, truth, rng.random(truth.shape) < 0.5


ESTIMATE, TRUTH, MASK = maps()


@pytest.fixture(params=["cpu", "cuda"])
def device(request, monkeypatch):
    """A GPU, or the host in its place: the same sums, where no GPU is."""
    if request.param == "cuda" and not torch.cuda.is_available():
        pytest.skip("needs a GPU")
    where = torch.device(request.param)
    monkeypatch.setattr(
        module, "device_of", lambda values: where if isinstance(values, torch.Tensor) else None
    )
    return where


def on_cpu(metrics=METRICS, **options):
    found = dg.Accumulator(metrics, quantity="disparity", **options)
    masks = {name: MASK for name in options.get("regions", ())}
    found.update(ESTIMATE, TRUTH, **masks)
    return found.compute()


def same_numbers(found, expected):
    """Counts are equal, and what counts pixels as well; means agree to 1e-6."""
    assert list(found.samples) == list(expected.samples)
    for name, scores in expected.samples.items():
        for score_id, score in scores.items():
            ours = found.samples[name][score_id]
            assert (ours.count, ours.missing) == (score.count, score.missing)
            assert ours.value == pytest.approx(score.value, rel=1e-6)
            if score.unit == "%" and score.total is not None:  # a share of pixels
                assert ours.value == score.value
    for score_id, summary in expected.summary.items():
        assert found.summary[score_id].value == pytest.approx(summary.value, rel=1e-6)


def test_tensors_of_the_host_are_scored_as_arrays_are():
    accumulator = dg.Accumulator(METRICS, quantity="disparity")
    estimate = torch.tensor(ESTIMATE, requires_grad=True)
    accumulator.update(estimate[:3], torch.tensor(TRUTH)[:3, None])
    accumulator.update((estimate * 1.0)[3:, None], torch.tensor(TRUTH)[3:], ids=None)
    assert accumulator.compute().to_json() == on_cpu().to_json()
    assert estimate.grad is None


def test_half_precision_and_integers():
    truth = torch.arange(24).reshape(1, 4, 6)
    for estimate in (truth.to(torch.bfloat16) + 1, truth.half() + 1, truth + 1):
        accumulator = dg.Accumulator("mae", quantity="disparity")
        accumulator.update(estimate, truth)
        assert accumulator.compute().to_dict() == {"mae@all": 1.0}


@pytest.mark.parametrize("pool", ["image", "pixel"])
def test_sums_on_a_device_are_those_of_the_cpu(device, pool):
    accumulator = dg.Accumulator(METRICS, regions=["glass"], quantity="disparity", pool=pool)
    estimate, truth, mask = (torch.tensor(x, device=device) for x in (ESTIMATE, TRUTH, MASK))
    accumulator.update(estimate[:5].requires_grad_(), truth[:5], glass=mask[:5])
    accumulator.update(estimate[5:, None], TRUTH[5:], glass=MASK[5:])
    assert len(accumulator) == 8
    result = accumulator.compute()
    same_numbers(result, on_cpu(regions=["glass"], pool=pool))
    every = [score for scores in result.samples.values() for score in scores.values()]
    assert {score.device for score in every} == {device.type}
    assert str(result).endswith(f"computed on {device.type}")
    assert result.to_json()["samples"]["0"]["mae@all"]["device"] == device.type


@pytest.mark.parametrize(
    ("quantity", "metrics", "channels"),
    [
        ("depth", ["absrel", "sqrel", "rms", "rmse_log", "silog", "log10", "delta:1.25"], 1),
        ("flow", ["epe", "npx:3", "fl"], 2),
        ("normals", ["mean_angle", "within:11.25"], 3),
    ],
)
def test_other_quantities_on_a_device(device, quantity, metrics, channels):
    rng = np.random.default_rng(1)
    shape = (3, 20, 30) if channels == 1 else (3, channels, 20, 30)
    truth = rng.uniform(0.5, 20, shape).astype(np.float32)
    estimate = (truth * rng.uniform(0.6, 1.5, shape)).astype(np.float32)
    estimate[rng.random(shape) < 0.05] = np.nan
    estimate[rng.random(shape) < 0.02] = -1.0
    truth[rng.random(shape) < 0.2] = np.nan
    truth[rng.random(shape) < 0.05] = 0.0
    there, here = (dg.Accumulator(metrics, quantity=quantity) for _ in "ab")
    there.update(torch.tensor(estimate, device=device), torch.tensor(truth, device=device))
    here.update(estimate, truth)
    assert here.compute().samples["0"][f"{metrics[0]}@all"].device is None
    assert there.compute().samples["0"][f"{metrics[0]}@all"].device == device.type
    same_numbers(there.compute(), here.compute())


def test_a_mask_that_limits_all_on_a_device(device):
    there, here = (dg.Accumulator(METRICS, quantity="disparity") for _ in "ab")
    there.update(torch.tensor(ESTIMATE), torch.tensor(TRUTH), mask=torch.tensor(MASK))
    here.update(ESTIMATE, TRUTH, mask=MASK)
    same_numbers(there.compute(), here.compute())


def test_ranges_of_depth_are_followed_on_a_device(device):
    body = {"id": "near", "version": 1, "dataset": "folder", "quantity": "depth", "pool": "image"}
    body |= {"truth": {"min_depth_m": 2, "max_depth_m": 30}, "estimate": {"range": [1, 50]}}
    protocol = make_protocol({**body, "scores": [{"metric": "absrel"}, {"metric": "rms"}]}, "near")
    there, here = (dg.Accumulator(benchmark=protocol) for _ in "ab")
    there.update(torch.tensor(ESTIMATE, device=device), torch.tensor(TRUTH, device=device))
    here.update(ESTIMATE, TRUTH)
    assert there.compute().samples["0"]["rms@all"].device == device.type
    same_numbers(there.compute(), here.compute())


@pytest.mark.parametrize(
    "options",
    [
        {"metrics": ["mae", "quantile:50"]},
        {"metrics": ["mae"], "regions": ["discontinuities"]},
        {"metrics": ["mae"], "align": "median"},
        {"metrics": ["mae"], "estimate_resize": "nearest"},
        {"metrics": ["mae"], "device": "cpu"},
    ],
)
def test_everything_else_goes_by_way_of_the_host_and_is_exact(device, options):
    there, here = (dg.Accumulator(**options, quantity="disparity") for _ in "ab")
    there.update(torch.tensor(ESTIMATE, device=device), torch.tensor(TRUTH, device=device))
    here.update(ESTIMATE, TRUTH)
    assert there.compute().to_json() == here.compute().to_json()


def test_a_plan_is_made_only_of_what_it_follows():
    body = {"id": "x", "version": 1, "dataset": "folder", "quantity": "disparity", "pool": "image"}
    scores = [{"metric": "mae"}]
    assert DevicePlan.of(make_protocol({**body, "scores": scores}, "x")) is not None
    for change in (
        {"crop": 3},
        {"truth_scale": 0.5},
        {"missing": "interpolate", "interpolate": "scanline"},
        {"estimate": {"clip": [0, 9]}},
        {"truth": {"min_depth_m": 1}},
        {"scores": [{"metric": "mae", "region": "visible"}]},
        {"scores": [{"metric": "bumpiness"}]},
    ):
        assert DevicePlan.of(make_protocol({**body, "scores": scores, **change}, "x")) is None


def test_duplicates_pickles_and_states_of_a_device(device):
    accumulator = dg.Accumulator(METRICS, quantity="disparity")
    estimate, truth = (torch.tensor(values, device=device) for values in (ESTIMATE, TRUTH))
    accumulator.update(estimate[:5], truth[:5], ids=range(5))
    accumulator.update(estimate[3:], truth[3:], ids=torch.arange(3, 8))
    assert len(accumulator) == 8
    again = pickle.loads(pickle.dumps(accumulator))
    loaded = dg.Accumulator(METRICS, quantity="disparity")
    store = io.BytesIO()
    torch.save({"metrics": accumulator.state_dict()}, store)
    store.seek(0)
    loaded.load_state_dict(torch.load(store, weights_only=True)["metrics"])
    for found in (again, loaded, accumulator):
        same_numbers(found.compute(), on_cpu())
        assert found.compute().to_json() == accumulator.compute().to_json()


def test_other_sizes_on_a_device_are_one_sentence(device):
    accumulator = dg.Accumulator("mae", quantity="disparity")
    with pytest.raises(dg.DepthgaugeError, match=r"the estimate is \(8, 48, 60\) but the truth is"):
        accumulator.update(torch.tensor(ESTIMATE[..., :60]), torch.tensor(TRUTH))


class Samples(torch.utils.data.Dataset):
    def __len__(self):
        return len(TRUTH)

    def __getitem__(self, n):
        one = dg.Accumulator(METRICS, quantity="disparity")
        one.update(ESTIMATE[n], TRUTH[n], ids=[n])
        return one.state_dict()


def test_workers_of_a_data_loader_score_and_the_loop_merges():
    loader = torch.utils.data.DataLoader(Samples(), batch_size=None, num_workers=2)
    accumulator = dg.Accumulator(METRICS, quantity="disparity")
    for state in loader:
        accumulator.merge(state)
    whole = dg.Accumulator(METRICS, quantity="disparity")
    whole.update(ESTIMATE, TRUTH, ids=range(8))
    assert accumulator.compute().to_json() == whole.compute().to_json()


def _rank(rank, place, found):
    import torch.distributed as dist

    dist.init_process_group("gloo", init_method=f"file://{place}", rank=rank, world_size=2)
    accumulator = dg.Accumulator(METRICS, quantity="disparity")
    mine = [0, 1, 2, 3, 4] if rank == 0 else [5, 6, 7, 0, 1]  # a sampler fills up with 0 and 1
    accumulator.update(torch.tensor(ESTIMATE[mine]), torch.tensor(TRUTH[mine]), ids=mine)
    states = [None, None]
    dist.all_gather_object(states, accumulator.state_dict())
    whole = dg.Accumulator(METRICS, quantity="disparity")
    for state in states:
        whole.merge(state)
    found[rank] = pickle.dumps(whole.compute().to_json())
    dist.destroy_process_group()


def test_processes_of_torch_distributed_have_one_result(tmp_path):
    context = torch.multiprocessing.get_context("spawn")
    with context.Manager() as manager:
        found = manager.dict()
        ranks = [
            context.Process(target=_rank, args=(rank, tmp_path / "rendezvous", found))
            for rank in range(2)
        ]
        for each in ranks:
            each.start()
        for each in ranks:
            each.join(timeout=120)
        results = [pickle.loads(found[rank]) for rank in range(2)]
    whole = dg.Accumulator(METRICS, quantity="disparity")
    whole.update(ESTIMATE, TRUTH, ids=range(8))
    assert results[0] == results[1] == whole.compute().to_json()
