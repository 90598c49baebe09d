"""The recorded accuracy figures keep their budgets and come from the code as it is."""

import json
import re

import pytest
import tools.evidence
from click.testing import CliRunner
from tools.evidence import FOLDER, Figure, Number, _sources, all_figures
from tools.evidence.__main__ import main

RECORDS = sorted(FOLDER.glob("*.json"))
FIGURES = all_figures()


def record(*arguments):
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


def test_every_figure_is_recorded():
    recorded = sorted(path.stem for path in RECORDS)  # "a.json" is behind "a-b.json"
    assert recorded == sorted(FIGURES) == sorted(_sources.SOURCES)


@pytest.mark.parametrize("path", RECORDS, ids=lambda path: path.stem)
def test_numbers_keep_their_budgets(path):
    numbers = [Number(**number) for number in json.loads(path.read_text())["numbers"]]
    assert any(number.expected is not None for number in numbers)
    for number in numbers:
        assert (number.expected is None) == (number.budget is None)
        assert number.met, number


@pytest.mark.parametrize("name", FIGURES)
def test_every_source_exists(name):
    found = _sources.files(FIGURES[name].sources)
    assert all(found.values()), [source for source, files in found.items() if not files]


@pytest.mark.parametrize("name", FIGURES)
def test_the_code_is_what_was_measured(name):
    """Stale records that cannot be made on this machine are skipped: `make evidence` elsewhere."""
    _check(FIGURES[name], FOLDER)


def _check(figure, folder):
    changed = figure.changes(folder)
    if changed and (reason := figure.absent()):
        pytest.skip(f"{figure.name} is stale ({changed}) and cannot be recorded here: {reason}")
    assert not changed, f"{changed} changed since {figure.name} was recorded; run: make evidence"


@pytest.mark.parametrize("path", RECORDS, ids=lambda path: path.stem)
def test_a_record_says_how_it_was_made_and_names_no_place_on_a_machine(path):
    text = path.read_text()
    assert {"about", "data", "command", "version", "date", "code"} <= set(json.loads(text))
    assert not re.search(r'"/|\.\./|shared/', text)


def test_expected_values_are_not_copied_from_the_result():
    """A number that is its own expectation is reported, and not tested."""
    for path in RECORDS:
        for number in json.loads(path.read_text())["numbers"]:
            if number.get("budget") == 0:
                assert number["expected"] == round(number["expected"]), number


@pytest.fixture
def figure(monkeypatch):
    """A figure of one number, which counts how often it is measured."""
    measured = []

    def measure():
        measured.append(len(measured))
        return [Number("a count", 1.0 + measured[-1] / 10, 1.0, 0.25), Number("a share", 40.0)]

    made = Figure("counted", "none", ("depthgauge.units",), (), measure, "Counts.")
    monkeypatch.setattr(tools.evidence.__main__, "all_figures", lambda: {"counted": made})
    return made


def test_a_fresh_figure_is_not_measured_again_unless_forced(figure, tmp_path):
    out = tmp_path / "not" / "there"
    first = record("--out", out, "counted").stdout
    assert first == ("counted: recorded\n   a count: 1, expected 1 +- 0.25\n   a share: 40\n")
    assert record("--out", out, "counted").stdout == "counted: fresh\n"
    path = out / "counted.json"
    kept = json.loads(path.read_text())
    assert kept["numbers"][1] == {"name": "a share", "value": 40.0}
    kept["code"]["depthgauge.units"] += " Gone:000000000000"
    path.write_text(json.dumps(kept))
    assert "counted: recorded\n   a count: 1.1" in record("--out", out, "counted").stdout
    assert "a count: 1.2" in record("--out", out, "--force", "counted").stdout
    missed = record("--out", out, "--force", "counted")
    assert missed.exit_code == 1
    assert " ! a count: 1.3, expected 1 +- 0.25" in missed.stdout
    assert "budgets are missed in counted" in missed.stderr


def test_what_cannot_be_measured_here_is_said(figure, tmp_path, monkeypatch):
    figure.record(tmp_path)
    needing = Figure(**{**vars(figure), "needs": ("no-such-data",)})
    monkeypatch.setattr(tools.evidence.__main__, "all_figures", lambda: {"counted": needing})
    reason = "cannot be recorded here: it needs no-such-data, real data that is not part"
    assert record("--out", tmp_path).stdout == "counted: fresh\n"
    assert f"counted: fresh, {reason}" in record("--out", tmp_path, "--force").stdout
    path = tmp_path / "counted.json"
    path.write_text(path.read_text().replace("Unit:", "Unit:0"))
    stale = record("--out", tmp_path)
    assert f"counted: stale, {reason}" in stale.stdout
    assert stale.exit_code == 0
    with pytest.raises(pytest.skip.Exception, match=r"stale .*Unit.* cannot be recorded here"):
        _check(needing, tmp_path)
    with pytest.raises(AssertionError, match=r"Unit.* changed since counted was recorded"):
        _check(figure, tmp_path)


def test_a_package_that_is_not_installed_is_named(figure):
    assert Figure(**{**vars(figure), "needs": ("no_such_package",)}).absent() == (
        "it needs the package no_such_package"
    )
    assert Figure(**{**vars(figure), "needs": ("json",)}).absent() == ""


@pytest.mark.parametrize("value", [0.7, 1.3, float("nan"), float("inf")])
def test_a_number_beyond_its_budget_is_seen(value):
    assert not Number("n", value, 1.0, 0.25).met
    assert Number("n", value).met == (value in (0.7, 1.3))


def test_an_unknown_figure_is_named():
    done = record("no-such")
    assert done.exit_code == 2
    assert "no figure 'no-such'; known: bsds500, capture, " in done.stderr
