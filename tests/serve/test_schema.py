"""Whatever the schema of the API allows, and much that it does not: the site answers as it says."""

import pytest
from fastapi.testclient import TestClient
from hypothesis import HealthCheck, given, settings

from depthgauge.serve.accounts import people, rates
from depthgauge.serve.web.app import make_app
from depthgauge.serve.web.settings import WebSettings

schemathesis = pytest.importorskip("schemathesis", reason="a test dependency")

CHECKS = [
    schemathesis.checks.not_a_server_error,
    schemathesis.checks.response_schema_conformance,
    schemathesis.checks.content_type_conformance,
]
URL = "http://site.example:8400"


@pytest.fixture
def ask(site, database, tiny, add_user, send, monkeypatch):
    """Sends a generated request as a member, and checks the answer against the schema."""
    monkeypatch.setattr(rates, "UPLOADS_BY_TEAM", rates.Limit("uploads", 10**9, 1))
    ann = add_user()
    with database.begin() as session:
        secret = people.make_token(session, ann, "test", people.SCOPES, 1)
    send(ann)
    app = make_app(site, database, WebSettings(URL))
    client = TestClient(app, base_url=URL, raise_server_exceptions=False)
    head = {"Authorization": f"Bearer {secret}"}
    return app, client, head


def operations(app):
    schema = schemathesis.openapi.from_dict(app.openapi())
    found = [result.ok() for result in schema.get_all_operations()]
    assert len(found) >= 9
    return found


def check(operation, client, head, examples):
    """Answers are as declared, never a fault, and never another content type."""

    @settings(
        max_examples=examples,
        deadline=None,
        database=None,
        derandomize=True,
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy())
    def run(case):
        sent = case.as_transport_kwargs(base_url=URL)
        sent["headers"] = {**dict(sent.get("headers") or {}), **head}
        answer = client.request(**{k: v for k, v in sent.items() if k != "cookies"})
        case.validate_response(answer, checks=CHECKS)
        assert answer.status_code < 500, (case.method, case.path, answer.text)
        kind = answer.headers.get("content-type", "")
        assert kind.startswith("application/json") or answer.status_code == 204, kind
        if answer.status_code >= 400:
            body = answer.json()
            assert set(body) == {"ok", "error", "code"}
            assert body["ok"] is False
            assert answer.status_code in (401, 403, 404, 405, 409, 413, 421, 422, 429, 507)

    run()


@pytest.mark.long
def test_the_api_answers_everything_in_its_own_shape(ask):
    app, client, head = ask
    for operation in operations(app):
        check(operation, client, head, 60)
        check(operation, client, {}, 10)
