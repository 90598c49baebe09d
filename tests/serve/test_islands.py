"""The front end's scripts as the site serves them."""

import base64
import hashlib
import re

import pytest
from fastapi import FastAPI
from starlette.testclient import TestClient

from depthgauge.errors import Refused
from depthgauge.serve.web.islands import entry, island, islands


@pytest.fixture
def client():
    app = FastAPI()
    app.include_router(islands)
    return TestClient(app)


def test_the_entry_has_the_bytes_that_its_hash_says(client):
    answer = client.get(entry().address)
    digest = base64.b64encode(hashlib.sha384(answer.content).digest()).decode()
    assert entry().integrity == f"sha384-{digest}"
    assert answer.headers["content-type"].startswith("text/javascript")
    assert answer.headers["cache-control"] == "public, max-age=31536000, immutable"


def test_every_chunk_that_the_entry_names_is_served(client):
    names = re.findall(r"\./([\w-]+\.js)", client.get(entry().address).text)
    assert {name.split("-")[0] for name in names} >= {"board", "compare", "draw", "clean"}
    assert all(client.get(f"/static/islands/{name}").status_code == 200 for name in names)
    assert client.get("/static/islands/LICENSES.txt").text.count("Permission is hereby granted")


@pytest.mark.parametrize("name", ["no.js", "../islands.py", "..", "manifest.json"])
def test_nothing_else_is_served(name):
    with pytest.raises(Refused):
        island(name)
