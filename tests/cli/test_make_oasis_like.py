"""`make oasis-like`: what it says and refuses."""

import json

TINY = ["--scenes", "1", "--annotators", "1", "--width", "64", "--height", "64"]


def test_a_set_is_made_and_not_made_again(run, tmp_path):
    out = tmp_path / "set"
    made = run("make", "oasis-like", "--out", str(out), *TINY)
    assert made.code == 0
    assert "1 scene of 64x64, annotated by 2 simulated people" in made.out
    assert (out / "OASIS_val.csv").is_file()
    assert (out / "humans" / "human-1" / "depth").is_dir()
    again = run("make", "oasis-like", "--out", str(out), *TINY)
    assert (again.code, again.out) == (0, made.out)
    refused = run("make", "oasis-like", "--out", str(out), *TINY, "--seed", "2")
    assert refused.code == 1
    assert "--overwrite" in refused.err
    other = run(
        "make", "oasis-like", "--out", str(out), *TINY, "--seed", "2", "--overwrite", "--json"
    )
    assert json.loads(other.out)["samples"] == ["curved-2000"]


def test_impossible_sizes_are_refused(run, tmp_path):
    assert run("make", "oasis-like", "--out", str(tmp_path), "--width", "4").code == 2
