"""A run scored again: the same bits, or where it differs."""

import json

import numpy as np
import pytest
from click.testing import CliRunner

from depthgauge.cli.verify_verb import command
from depthgauge.engine.running.run import run
from depthgauge.engine.running.verify import verify
from depthgauge.errors import BadData, Misuse
from depthgauge.io import read_image, write_image


@pytest.fixture
def folder(pairs, trial, tmp_path):
    methods = [pairs.noisy("one"), pairs.noisy("two", 3.0)]
    run(trial(), pairs.data, methods, tmp_path / "run", workers=0, only=["s0", "s1", "s2"])
    return tmp_path / "run"


def test_a_run_gives_the_same_bits_again(folder):
    found = verify(folder, workers=0)
    assert (found.answer, found.data, found.differences) == ("same bits", "same", ())
    assert found.samples == ("s0", "s1", "s2")
    assert found.scores == 2 * 3 * 6


def test_a_share_of_the_samples_is_chosen_by_seed(folder):
    first, second = (verify(folder, share=0.34, seed=4, workers=0) for _ in range(2))
    assert len(first.samples) == 1
    assert first == second
    with pytest.raises(Misuse, match="the share is 0"):
        verify(folder, share=0)


def table(folder):
    import pyarrow.parquet as pq

    return pq.read_table(folder / "scores.parquet")


def changed(folder, factor):
    """The table with one number changed, as somebody might who wants a better one."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rows = table(folder)
    values = rows["value"].to_numpy().copy()
    place = int(np.flatnonzero(values > 0)[0])
    values[place] *= factor
    at = rows.column_names.index("value")
    pq.write_table(rows.set_column(at, rows.field(at), pa.array(values)), folder / "scores.parquet")
    return rows["sample"][place].as_py()


def test_a_changed_number_is_found_and_named(folder):
    sample = changed(folder, 0.5)
    found = verify(folder, workers=0)
    assert found.answer == "different"
    assert [each.sample for each in found.differences] == [sample]
    said = CliRunner().invoke(command, [str(folder), "--workers", "0", "--json", "-"])
    assert said.exit_code == 1
    assert json.loads(said.stdout)["answer"] == "different"


def test_the_last_digits_may_differ_between_machines(folder):
    changed(folder, 1 + 1e-12)
    assert verify(folder, workers=0).answer == "same to 1e-9"


def test_changed_data_and_changed_estimates_are_refused(folder, pairs):
    path = folder / "estimates" / "one" / "s1" / "disparity.npy"
    before = path.read_bytes()
    np.save(path, np.load(path) + 1)
    with pytest.raises(BadData, match="is not the estimate that was written there"):
        verify(folder, workers=0)
    path.write_bytes(before)
    image = pairs.data / "left" / "s1.png"
    write_image(image, np.ascontiguousarray(read_image(image) // 2))
    with pytest.raises(BadData, match="left_image of sample 's1' changed"):
        verify(folder, workers=0)
