"""`depthgauge study`: rankings of people and metrics, from files to tables."""

import pytest

RANKINGS = """grader,experiment,variant,repeat,method,rank
ann,porosity,basic,1,one,1
ann,porosity,basic,1,two,2
ann,porosity,basic,1,six,3
ben,porosity,basic,1,one,1
ben,porosity,basic,1,two,3
ben,porosity,basic,1,six,2
"""
SCORES = """experiment,method,score,better
porosity,one,9,higher
porosity,two,8,higher
porosity,six,7,higher
"""


@pytest.fixture
def files(tmp_path):
    rankings, scores = tmp_path / "rankings.csv", tmp_path / "scores.csv"
    rankings.write_text(RANKINGS)
    scores.write_text(SCORES)
    return rankings, scores


def test_the_agreement_is_printed(run, files):
    rankings, scores = files
    ran = run("study", rankings, "--scores", scores)
    assert ran.code == 0
    # One of three pairs of methods is swapped: tau 1/3. The metric agrees with ann, not with ben.
    assert "0.33 (1)" in ran.out
    assert "0.67 (2)" in ran.out
    assert "Ranks" not in ran.out


@pytest.mark.parametrize(
    ("form", "sign"),
    [("--markdown", "| :-- |"), ("--latex", "\\toprule"), ("--csv", "between tau")],
)
def test_tables_for_papers(run, files, form, sign):
    ran = run("study", files[0], "--scores", files[1], "--ranks", form)
    assert sign in ran.out
    assert "six" in ran.out


def test_json_has_it_all(run, files):
    body = run("study", files[0], "--scores", files[1], "--json").json()
    assert body["experiments"][0]["between"]["tau"] == pytest.approx(1 / 3)
    assert body["metrics"]["porosity"]["ranks"] == {"one": 1, "two": 2, "six": 3}
    assert body["rankings"][1]["grader"] == "ben"


@pytest.mark.parametrize(
    ("which", "old", "new", "why"),
    [
        (
            0,
            "ben,porosity,basic,1,two,3",
            "ben,porosity,basic,1,two,third",
            "line 6: rank is 'third'",
        ),
        (
            0,
            "ben,porosity,basic,1,two,3",
            "ben,porosity,basic,1,one,3",
            "line 6: ben ranks 'one' twice",
        ),
        (0, "method,rank", "method,place", "lacks rank and has unknown place"),
        (1, "porosity,two,8,higher", "porosity,two,many,higher", "line 3: score is 'many'"),
        (1, "porosity,two,8,higher", "porosity,one,8,higher", "line 3: scores 'one' twice"),
        (1, "porosity,two,8,higher", "porosity,two,8,lower", "line 3: better is 'lower', but"),
        (1, "porosity,two,8,higher", "porosity,two,8,up", "line 3: better is 'up' but must"),
        (1, "porosity,two,8,higher\n", "", "do not have the same methods: two only in"),
        (1, "porosity,", "bumps,", "no rankings of 'bumps' to compare its metric with"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(run, files, which, old, new, why):
    text = files[which].read_text()
    assert old in text
    files[which].write_text(text.replace(old, new))
    ran = run("study", files[0], "--scores", files[1])
    assert ran.code in (1, 2)
    assert why in ran.err
    assert ran.out == ""
