"""The pages of methods, samples, points and comparisons, as they are without scripts."""

import re

import pytest
from fastapi.testclient import TestClient
from tests.serve import tiny as made
from tests.serve.conftest import PASSWORD
from tests.serve.exhibiting import draw_all, score_and_publish

from depthgauge.serve.submissions import worker
from depthgauge.serve.web.app import make_app
from depthgauge.serve.web.settings import WebSettings

URL = "http://site.example:8400"


@pytest.fixture
def browser(site, database):
    """Makes visitors; `browser(user)` is logged in."""
    app = make_app(site, database, WebSettings(URL))

    def make(user=None):
        client = TestClient(app, base_url=URL, follow_redirects=False)
        if user is not None:
            fields = {"email": user.email, "password": PASSWORD}
            client.post("/login", data=fields, headers={"Origin": URL})
        return client

    return make


def linked(text):
    """The addresses of everything that a page loads or links on this site."""
    found = re.findall(r'(?:src|href|data-tiles)="(/[^"]*)"', text)
    return sorted({each.replace("&amp;", "&") for each in found})


def test_the_pages_of_a_public_benchmark(site, database, public, add_user, send, browser):
    ann = add_user(admin=True)
    ids, far = {}, '"><script>alert(1)</script>'
    for name, error in (("near", 0.4), (far, 3)):
        sent = send(ann, made.archive(made.estimates(error)), name, version="2")
        ids[name] = score_and_publish(site, database, sent, ann)
    private = send(ann, made.archive(made.estimates(0.7)), "near").id
    worker.work_once(site, database)
    draw_all(site, database)
    client = browser()

    method = client.get(f"/benchmarks/tiny/methods/{ids['near']}?sample=fence").text
    assert '<section id="sample" aria-label="Sample fence">' in method
    assert "<dg-chart" in method
    assert "Strengths and weaknesses" in method
    assert "Correct pixels by threshold" in method
    assert "@misc{near-tiny," in method
    assert "boxes.npz" in method
    assert private not in method  # another version that only its team sees
    own = browser(ann).get(f"/benchmarks/tiny/methods/{ids['near']}").text
    assert private in own
    sample = client.get("/benchmarks/tiny/samples/fence").text
    assert sample.index(">near<") < sample.index("&lt;script")  # best first
    assert "<dg-points" in sample
    points = client.get(f"/benchmarks/tiny/points?sample=fence&method={ids['near']}").text
    assert points.count("<dg-points") == 2
    both = f"method={ids['near']}&method={ids[far]}"
    compared = client.get(f"/benchmarks/tiny/compare?{both}&sample=fence").text
    assert compared.count("<dg-compare>") == 2
    assert "too few samples" in compared  # two
    assert "near 2: 100 %" in compared  # the best of every pixel
    assert "<script>alert" not in method + sample + points + compared  # what authors write is text
    everything = linked(method + sample + points + compared)
    files = [each for each in everything if "/kept/" in each or ".webp" in each]
    assert len(files) > 10
    for address in files:  # links to pages are followed by the crawler
        assert client.get(address).status_code == 200, address
    picture = client.get(f"/submissions/{ids['near']}/picture?sample=fence")
    assert picture.headers["content-type"] == "image/webp"

    other = browser(add_user("eve@example.org"))
    for stranger in (client, other):
        for hidden in (
            f"/benchmarks/tiny/methods/{private}",
            f"/benchmarks/tiny/compare?method={private}",
            f"/benchmarks/tiny/compare/best.webp?method={private}&method={ids['near']}&sample=fence",
            f"/benchmarks/tiny/points?method={private}",
            f"/submissions/{private}/picture?sample=fence",
        ):
            assert stranger.get(hidden).status_code == 404, hidden


def test_wrong_addresses_are_no_faults(public, browser):
    for address in (
        "/benchmarks/nothing/compare",
        "/benchmarks/tiny/compare?sample=nothing",
        "/benchmarks/tiny/compare?method=nobody",
        "/benchmarks/tiny/compare/best.webp",
        "/benchmarks/tiny/points?sample=nothing",
        "/benchmarks/tiny/methods/nobody",
        "/benchmarks/tiny/samples/nothing",
        "/benchmarks/tiny/samples/..%2F..%2Fetc",
        "/submissions/nobody/picture",
    ):
        assert browser().get(address).status_code == 404, address
    assert "Choose at least two methods" in browser().get("/benchmarks/tiny/compare").text
    assert "no pictures of it yet" in browser().get("/benchmarks/tiny/samples/boxes").text


def test_hidden_benchmarks_show_inputs_and_released_scores(
    site, database, tiny, add_user, send, browser
):
    ann = add_user(admin=True)
    ids = [
        score_and_publish(site, database, send(ann, made.archive(made.estimates(e)), m), ann)
        for e, m in ((0.4, "near"), (3, "far"))
    ]
    draw_all(site, database)
    client = browser()
    sample = client.get("/benchmarks/tiny/samples/fence").text
    assert "left_image.webp" in sample
    assert "The truth of this benchmark is hidden" in sample
    method = client.get(f"/benchmarks/tiny/methods/{ids[0]}").text
    assert "there are no pictures of single samples" in method
    assert "only scores of all samples together are released" in method
    compared = client.get(f"/benchmarks/tiny/compare?method={ids[0]}&method={ids[1]}").text
    assert "Scores of single samples are not released" in compared
    assert "kept" not in method + compared
    assert client.get(f"/submissions/{ids[0]}/picture?sample=fence").status_code == 404


@pytest.mark.long
def test_layers_are_gone_through_and_seen_in_3d(site, database, add_user, browser, tmp_path):
    """A pane before a wall: every layer has its pictures, and the points have layers."""
    import numpy as np
    from tests.report.layered import GLASS, HEIGHT, WIDTH, write_rooms

    from depthgauge.analysis.maps.point_cloud import decode_cloud
    from depthgauge.serve import demo
    from depthgauge.serve.submissions.registry import add_benchmark

    ann = add_user(admin=True)
    add_benchmark(site, database, "layers-disparity", write_rooms(tmp_path / "rooms"))
    estimate = np.full((2, HEIGHT, WIDTH), 3.5, np.float32)
    estimate[0][:, GLASS] = 9.5
    estimate[1][:, ~GLASS] = np.nan
    for name in ("room0", "room1"):
        (tmp_path / "mine" / name).mkdir(parents=True)
        np.save(tmp_path / "mine" / name / "layered_disparity.npy", estimate)
    demo.submit(site, database, ann, "layers-disparity", "two", tmp_path / "mine")
    indices, read = draw_all(site, database)
    mine = next(index for subject, index in indices.items() if subject.startswith("submission"))
    assert mine["left_out"] == []
    for subject, index in indices.items():
        first = index["samples"][0]
        assert [layer["name"] for layer in first["layers"]] == ["1", "2", "last"], subject
        cloud = decode_cloud(read(subject, first["cloud"]))
        assert [name for name, _ in cloud.layers] == ["layer 1", "layer 2"]
    one = next(subject for subject in indices if subject.startswith("submission")).partition(":")[2]
    for address in ("samples/room1", f"methods/{one}?sample=room1"):
        text = browser().get(f"/benchmarks/layers-disparity/{address}").text
        assert text.count('class="stop"') == 3
        assert "<dg-points" in text
