"""Every code block of the README and of the documentation does what the page says."""

from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
ELSEWHERE = "adding.md"  # it registers things: test_adding.py runs it in a process of its own
PAGES = [REPOSITORY / "README.md", *sorted((REPOSITORY / "docs").rglob("*.md"))]
# Whole runs and generated scenes: half of the time that all pages take.
LONG = {"annotation-quality.md", "capture-simulator.md", "methods.md", "profiles.md", "reports.md"}
LONG |= {"runs.md", "stereo-scenes.md"}
RUN = [
    pytest.param(page, marks=pytest.mark.long if page.name in LONG else ())
    for page in PAGES
    if page.name != ELSEWHERE
]


@pytest.mark.parametrize("page", RUN, ids=lambda path: str(path.relative_to(REPOSITORY)))
def test_examples_of_the_page_work(page, run_page):
    run_page(page)


@pytest.mark.nets
@pytest.mark.parametrize("name", ["training.md", "coming-from.md"])
def test_examples_that_need_networks_are_run(name, run_page, blocks):
    for package in ("torch", "torchmetrics", "lightning"):
        pytest.importorskip(package, reason="installed by `make test-nets`")
    page = REPOSITORY / "docs" / name
    wanted = [b for b in blocks(page) if b.language == "python" and b.mark != "not run"]
    assert any(block.mark.startswith("needs: ") for block in wanted)
    assert run_page(page) >= len(wanted)


def test_a_block_that_needs_what_is_not_there_is_left_out(run_page, tmp_path):
    page = tmp_path / "page.md"
    page.write_text(
        "<!-- needs: no_such_package -->\n\n```python\n1 / 0\n```\n\n"
        "<!-- needs: json -->\n\n```python\na = 1\n```\n"
    )
    assert run_page(page) == 1


def test_blocks_are_found_and_run(run_page, tmp_path):
    page = tmp_path / "page.md"
    page.write_text(
        "```python\na = 1\n```\n\n```python\n>>> a + 1\n2\n```\n\n"
        "<!-- run -->\n\n```bash\necho three\n```\n\n<!-- output -->\n\n```text\nth...\n```\n"
        "<!-- not run -->\n```python\n1 / 0\n```\n\n```bash\nfalse\n```\n"
    )
    assert run_page(page) == 4


@pytest.mark.parametrize(
    "text",
    [
        "```python\n1 / 0\n```\n",
        "```python\n>>> 1 + 1\n3\n```\n",
        "<!-- run -->\n```bash\nfalse\n```\n",
        "<!-- run -->\n```bash\necho a\n```\n<!-- output -->\n```text\nb\n```\n",
    ],
)
def test_a_block_that_does_not_do_what_it_says_is_an_error(text, run_page, tmp_path):
    page = tmp_path / "page.md"
    page.write_text(text)
    with pytest.raises((AssertionError, ZeroDivisionError)):
        run_page(page)


def test_pages_name_nothing_internal():
    for page in PAGES:
        text = page.read_text(encoding="utf-8").replace("/groundtruth/", "")  # a folder of KITTI's
        for word in ("../shared", "groundtruth"):
            assert word not in text, f"{page.name} says {word}"
