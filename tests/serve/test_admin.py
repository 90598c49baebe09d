"""The admin's page: queue, disk, benchmarks, accounts, duplicates, log."""

import numpy as np
from fastapi.testclient import TestClient
from tests.serve import tiny as made
from tests.serve.conftest import PASSWORD
from tests.serve.test_web import FORM, URL

from depthgauge.serve.submissions import revisions, worker
from depthgauge.serve.web.app import make_app
from depthgauge.serve.web.settings import WebSettings


def test_an_admin_sees_how_the_site_does(site, database, tiny, add_user, send):
    ada = add_user("ada@example.org", admin=True)
    ann, eve = add_user(), add_user("eve@example.org")
    noise = np.random.default_rng(3).normal(0, 0.3, made.SIZE).astype(np.float32)
    maps = {name: truth + noise for name, truth in made.truths().items()}
    for user, shift in ((ann, 0.0), (eve, 0.1)):
        send(user, made.archive({n: m + np.float32(shift) for n, m in maps.items()}), f"M{shift}")
        worker.work_once(site, database)
    revisions.begin(site, database, "tiny", "asked")
    send(ann, made.archive(made.estimates(2.0)), "Waiting")
    settings = WebSettings(URL, mail=True)
    app = make_app(site, database, settings)

    def visit(user):
        client = TestClient(app, base_url=URL)
        client.post("/login", data={"email": user.email, "password": PASSWORD}, headers=FORM)
        return client

    text = visit(ada).get("/admin").text
    assert "1 waiting" in text
    assert "tiny: 2 left" in text
    assert "3 archives of" in text
    assert "2 waiting, 0 sent" in text  # mails
    similar = text[text.index("Similar submissions") : text.index("<h2>Submissions</h2>")]
    assert "M0.0" in similar
    assert "M0.1" in similar
    assert "always open" in text
    assert "scoring again begun (asked)" in text
    log = text[text.index("Audit log") :]
    assert "ann@example.org" in log  # who submitted
    for other in (ann, eve):
        client = visit(other)
        page = client.get("/account").text + client.get("/benchmarks/tiny").text
        assert "Similar submissions" not in page
        assert client.get("/admin").status_code == 404


# Prometheus


def scrape(app, host="127.0.0.1:8400", client="127.0.0.1", **headers):
    visitor = TestClient(app, base_url=f"http://{host}", client=(client, 1))
    return visitor.get("/metrics", headers=headers)


def test_numbers_for_prometheus(site, database, tiny, add_user, send):
    send(add_user(), method="PrivateMethod")
    worker.work_once(site, database)
    send(add_user("eve@example.org"), made.archive(made.estimates(1)), method="PrivateMethod")
    app = make_app(site, database, WebSettings(URL))
    scrape(app)
    answer = scrape(app)
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    lines = answer.text.splitlines()
    assert 'depthgauge_submissions{benchmark="tiny",state="scored"} 1' in lines
    assert 'depthgauge_submissions{benchmark="tiny",state="queued"} 1' in lines
    assert 'depthgauge_http_responses_total{status="2xx"} 1' in lines
    names = [line.split()[2] for line in lines if line.startswith("# TYPE")]
    assert len(names) == len(set(names)) > 8
    for line in lines:
        assert line.startswith("# ") or float(line.rsplit(" ", 1)[1]) >= 0
    for text in ("PrivateMethod", "example.org", "mae", str(site.root)):
        assert text not in answer.text


def test_only_this_machine_or_a_token_reads_them(site, database):
    app = make_app(site, database, WebSettings(URL, metrics_token="a long secret"))
    assert scrape(app).status_code == 200
    assert scrape(app, "localhost:8400", "::1").status_code == 200
    # Through a proxy on this machine: by its host, or by what it adds.
    assert scrape(app, "site.example:8400").status_code == 404
    forwarded = {"X-Forwarded-For": "9.9.9.9"}
    assert scrape(app, **forwarded).status_code == 421
    assert scrape(app, "site.example:8400", "9.9.9.9").status_code == 404
    token = {"Authorization": "Bearer a long secret"}
    assert scrape(app, "site.example:8400", "9.9.9.9", **token).status_code == 200
    for wrong in ("Bearer a long secre", "Bearer ", "Basic a long secret"):
        answer = scrape(app, "site.example:8400", "9.9.9.9", Authorization=wrong)
        assert answer.status_code == 404
    none = make_app(site, database, WebSettings(URL))
    answer = scrape(none, "site.example:8400", "9.9.9.9", Authorization="Bearer ")
    assert answer.status_code == 404
    # Nothing else answers under another name.
    assert TestClient(app, base_url="http://127.0.0.1:8400").get("/").status_code == 421
