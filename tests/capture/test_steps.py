"""Steps on disk: done once, done again when something changed, never half."""

import json

import pytest

from depthgauge.capture.pipeline import outdated_steps
from depthgauge.capture.steps import StepOutput, do_step, has_step, read_step
from depthgauge.errors import BadData, CannotWrite


class Counted:
    """A step that writes one file and knows how often it was called."""

    def __init__(self, text="made"):
        self.calls, self.text = 0, text

    def __call__(self, folder):
        self.calls += 1
        (folder / "thing.txt").write_text(self.text)
        return StepOutput({"value": 1.5}, ("beware.",))


def test_a_step_is_done_once(tmp_path):
    make = Counted()
    first = do_step(tmp_path, "rectify", make, revision=1, options={"size": 3})
    second = do_step(tmp_path, "rectify", make, revision=1, options={"size": 3})
    assert make.calls == 1
    assert first.fresh
    assert not second.fresh
    assert (second.figures, second.warnings) == ({"value": 1.5}, ("beware.",))
    assert (second.folder / "thing.txt").read_text() == "made"


def test_again_does_it_anew(tmp_path):
    make = Counted()
    do_step(tmp_path, "rectify", make, revision=1, options={})
    assert do_step(tmp_path, "rectify", make, revision=1, options={}, again=True).fresh
    assert make.calls == 2


@pytest.mark.parametrize("changed", ["options", "revision", "file", "after"])
def test_whatever_it_was_made_from_is_part_of_its_key(tmp_path, changed):
    picture = tmp_path / "a.png"
    picture.write_bytes(b"one")
    work = tmp_path / "work"
    before = do_step(work, "calibrate", Counted(), revision=1, options={"n": 1})
    make = Counted()
    given = {"options": {"k": 1}, "revision": 1, "files": [picture], "after": [before]}
    do_step(work, "rectify", make, **given)
    if changed == "file":
        picture.write_bytes(b"two")
    elif changed == "after":
        given["after"] = [do_step(work, "calibrate", Counted(), revision=1, options={"n": 2})]
    else:
        given |= {"options": {"options": {"k": 2}}, "revision": {"revision": 2}}[changed]
    do_step(work, "rectify", make, **given)
    assert make.calls == 2


def test_a_failed_step_keeps_the_old_one_and_what_it_had_made(tmp_path):
    do_step(tmp_path, "rectify", Counted("old"), revision=1, options={"v": 1})

    def fails(folder):
        (folder / "tile-0").write_text("first half")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        do_step(tmp_path, "rectify", fails, revision=1, options={"v": 2})
    assert (read_step(tmp_path, "rectify").folder / "thing.txt").read_text() == "old"

    def goes_on(folder):
        assert (folder / "tile-0").read_text() == "first half"
        return StepOutput({})

    step = do_step(tmp_path, "rectify", goes_on, revision=1, options={"v": 2})
    assert sorted(p.name for p in step.folder.iterdir()) == ["step.json", "tile-0"]
    assert not list(tmp_path.glob(".rectify*"))


def test_parts_of_other_options_are_thrown_away(tmp_path):
    def fails(folder):
        (folder / "tile-0").write_text("of other options")
        raise RuntimeError

    with pytest.raises(RuntimeError):
        do_step(tmp_path, "rectify", fails, revision=1, options={"v": 1})

    def starts_anew(folder):
        assert not list(folder.iterdir())
        return StepOutput({})

    do_step(tmp_path, "rectify", starts_anew, revision=1, options={"v": 2})


def test_a_step_that_is_not_done_says_what_to_run(tmp_path):
    assert not has_step(tmp_path, "clean")
    with pytest.raises(BadData, match="run `depthgauge capture clean`"):
        read_step(tmp_path, "clean")


@pytest.mark.parametrize("text", ["", "{", "[]", '{"schema": 2}', '{"schema": 1, "key": 3}'])
def test_a_damaged_record_means_not_done(tmp_path, text):
    step = do_step(tmp_path, "rectify", Counted(), revision=1, options={})
    (step.folder / "step.json").write_text(text)
    assert not has_step(tmp_path, "rectify")
    make = Counted()
    do_step(tmp_path, "rectify", make, revision=1, options={})
    assert make.calls == 1
    assert json.loads((step.folder / "step.json").read_text())["step"] == "rectify"


def test_a_work_folder_that_cannot_be_made_is_one_sentence(tmp_path):
    (tmp_path / "work").write_text("a file")
    with pytest.raises(CannotWrite, match="cannot be written"):
        do_step(tmp_path / "work", "rectify", Counted(), revision=1, options={})


def test_a_file_that_is_gone_is_one_sentence(tmp_path):
    with pytest.raises(BadData, match=r"gone\.png: cannot be read"):
        do_step(
            tmp_path, "rectify", Counted(), revision=1, options={}, files=[tmp_path / "gone.png"]
        )


def test_two_processes_at_once_do_not_mix(tmp_path):
    def meanwhile(folder):
        with pytest.raises(BadData, match="another process is working here"):
            do_step(tmp_path, "calibrate", Counted(), revision=1, options={})
        return StepOutput({})

    do_step(tmp_path, "rectify", meanwhile, revision=1, options={})


def test_what_was_made_from_another_version_is_out_of_date(tmp_path):
    first = do_step(tmp_path, "calibrate", Counted(), revision=1, options={"v": 1})
    second = do_step(tmp_path, "rectify", Counted(), revision=1, options={}, after=[first])
    do_step(tmp_path, "spacetime", Counted(), revision=1, options={}, after=[second])
    assert outdated_steps(tmp_path) == ()
    do_step(tmp_path, "calibrate", Counted(), revision=1, options={"v": 2})
    assert outdated_steps(tmp_path) == ("rectify", "spacetime")
    assert not has_step(tmp_path, "spacetime")
    with pytest.raises(
        BadData, match="step 'rectify' is out of date because 'calibrate' has changed"
    ):
        read_step(tmp_path, "rectify")
    # The same options as before: what follows is valid again.
    do_step(tmp_path, "calibrate", Counted(), revision=1, options={"v": 1})
    assert outdated_steps(tmp_path) == ()


def test_other_pictures_do_not_make_later_steps_old(tmp_path):
    picture, make = tmp_path / "im0.png", Counted()
    work = tmp_path / "work"

    def rectify():
        return do_step(work, "rectify", make, revision=1, options={}, pictures=[picture])

    picture.write_bytes(b"one")
    do_step(work, "spacetime", Counted(), revision=1, options={}, after=[rectify()])
    picture.write_bytes(b"two")
    rectify()
    rectify()
    assert make.calls == 2
    assert has_step(work, "spacetime")


def test_a_step_that_lost_a_file_is_not_done(tmp_path):
    step = do_step(tmp_path, "rectify", Counted(), revision=1, options={})
    (step.folder / "rectify.png").write_bytes(b"a picture that is drawn later")
    assert has_step(tmp_path, "rectify")
    (step.folder / "thing.txt").unlink()
    assert not has_step(tmp_path, "rectify")
    make = Counted()
    do_step(tmp_path, "rectify", make, revision=1, options={})
    assert make.calls == 1
