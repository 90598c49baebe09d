from __future__ import annotations

import subprocess
import sys

import pytest

from depthgauge.datasets import DATASETS, Dataset, DatasetSpec
from depthgauge.errors import BadData, Unavailable, UnknownName


def test_the_folder_is_its_own_registry():
    assert {"depthgauge", "folder", "middlebury-2001", "middlebury-2014"} <= set(DATASETS)
    assert all(DATASETS[name].id == name for name in DATASETS)


@pytest.mark.parametrize("name", sorted(DATASETS))
def test_every_dataset_says_what_it_expects(name, tmp_path):
    dataset = DATASETS[name]
    assert dataset.spec.title
    assert dataset.revision >= 1
    with pytest.raises(BadData):
        dataset.samples(tmp_path, "all")
    with pytest.raises(BadData, match="no such folder"):
        dataset.samples(tmp_path / "nowhere", "all")


def test_zero_samples_name_the_layout(tmp_path):
    with pytest.raises(BadData, match=r"disp0GT\.pfm"):
        DATASETS["middlebury-2014"].samples(tmp_path, "training")


def test_an_unknown_split_names_the_nearest(tmp_path):
    with pytest.raises(UnknownName, match="Did you mean 'training'"):
        DATASETS["middlebury-2014"].samples(tmp_path, "trainig")


def test_a_dataset_without_a_writer_says_so(tmp_path):
    spec = DatasetSpec("x", "X", ("disparity",), ("all",), "", "", "", "x")
    with pytest.raises(Unavailable, match="can be read but not written"):
        Dataset(spec, lambda root, split="all", **options: iter(())).write(tmp_path, [])


def test_listing_the_datasets_loads_nothing_heavy():
    code = (
        "import sys; from depthgauge.datasets import DATASETS; list(DATASETS); "
        "print(*{'cv2', 'scipy', 'tifffile', 'OpenEXR', 'pydantic'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""
