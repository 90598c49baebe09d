"""A site with a database in a temporary folder; passwords are hashed cheaply."""

import itertools
import os
import socket
import threading
import warnings
from contextlib import contextmanager

import pytest

sa = pytest.importorskip("sqlalchemy", reason="extra [serve]")
argon2 = pytest.importorskip("argon2", reason="extra [serve]")
pytest.importorskip("fastapi", reason="extra [serve]")

from depthgauge.serve.accounts import links, people, secrets  # noqa: E402
from depthgauge.serve.storage.database import engine_of, migrate  # noqa: E402

PASSWORD = "correct horse"

with warnings.catch_warnings():
    # Newer versions of starlette ask for a successor of httpx; both work.
    warnings.simplefilter("ignore")
    import starlette.testclient


@pytest.fixture(autouse=True)
def cheap_hashes(monkeypatch):
    cheap = argon2.PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
    monkeypatch.setattr(secrets, "HASHER", cheap)


@pytest.fixture(scope="session")
def empty_site(tmp_path_factory):
    """The file of a database with empty tables; migrating takes longer than copying."""
    path = tmp_path_factory.mktemp("site") / "site.db"
    migrate(f"sqlite:///{path}")
    return path


@pytest.fixture
def add_user(database):
    """Makes an account by the link that its role needs."""

    def add(email="ann@example.org", *, admin=False, team_id=None):
        with database.begin() as session:
            if admin:
                secret = links.first_admin_link(session)
            else:
                secret = links.make_link(session, "invitation", team_id=team_id)
            people.join(session, secret, email, email.partition("@")[0].title(), PASSWORD)
            return session.query(people.User).filter_by(email=email).one()

    return add


@pytest.fixture(scope="session")
def tiny_data(tmp_path_factory):
    from tests.serve.tiny import write_data

    return write_data(tmp_path_factory.mktemp("tiny"))


POSTGRESQL = os.environ.get("DEPTHGAUGE_TEST_POSTGRESQL", "")
"""The address of a PostgreSQL server without a database's name, or `start`: then one is started.

`make test-long` runs these tests so; without it they use SQLite.
"""
only_sqlite = pytest.mark.skipif(bool(POSTGRESQL), reason="about SQLite")


@pytest.fixture(scope="session")
def postgresql():
    """The address of a PostgreSQL server."""
    if POSTGRESQL != "start":
        yield POSTGRESQL
        return
    from tests.serve.postgresql import Server

    server = Server()
    yield server.url
    server.stop()


@pytest.fixture(scope="session")
def new_database(postgresql):
    """Makes databases of PostgreSQL with empty tables; each test has its own."""
    server = sa.create_engine(f"{postgresql}/postgres", isolation_level="AUTOCOMMIT")
    names = (f"depthgauge_test_{number}" for number in itertools.count())

    def make(template="template1"):
        name = next(names)
        with server.connect() as connection:
            connection.execute(sa.text(f"DROP DATABASE IF EXISTS {name}"))
            connection.execute(sa.text(f"CREATE DATABASE {name} TEMPLATE {template}"))
        return name

    first = make()
    migrate(f"{postgresql}/{first}")
    yield lambda: f"{postgresql}/{make(first)}"
    server.dispose()


@pytest.fixture
def site(request, tmp_path):
    """A site without benchmarks."""
    from depthgauge.serve.site import Site, make_folders

    url = request.getfixturevalue("new_database")() if POSTGRESQL else ""
    made = Site(tmp_path / "site", url)
    make_folders(made)
    if not url:
        empty = request.getfixturevalue("empty_site")
        (made.web / "site.db").write_bytes(empty.read_bytes())
    return made


@pytest.fixture
def database(site):
    made = site.open()
    yield made
    engine_of(made).dispose()


@pytest.fixture
def tiny(site, database, tiny_data):
    """A site with the hidden benchmark `tiny`."""
    from depthgauge.serve.submissions.registry import add_benchmark

    return add_benchmark(
        site,
        database,
        str(tiny_data / "tiny.toml"),
        tiny_data / "public",
        hidden=tiny_data / "hidden",
        monthly_quota=5,
    )


@pytest.fixture
def public(site, database, tiny_data):
    """A site with the benchmark `tiny`, whose truth is public."""
    from depthgauge.serve.submissions.registry import add_benchmark

    return add_benchmark(site, database, str(tiny_data / "tiny.toml"), tiny_data / "hidden")


@pytest.fixture
def send(site, database):
    """Uploads and submits an archive."""
    from tests.serve.tiny import archive, sha256

    from depthgauge.serve.submissions import intake

    def send_it(user, content=None, method="Mine", **entry):
        content = archive() if content is None else content
        upload = intake.begin_upload(site, database, user, "tiny", len(content), sha256(content))
        with database.begin() as session:
            row = intake.find_upload(session, user, upload)
        intake.append(site, row, 0, content)
        return intake.submit(site, database, user, upload, intake.Entry(method, **entry))

    return send_it


@pytest.fixture
def read(database):
    """A submission as it is now, with its scores."""
    from depthgauge.serve.storage.models import Submission

    def read_it(submission):
        with database.begin() as session:
            found = session.get_one(Submission, submission.id)
            scores = {(s.sample, s.score): s.value for s in found.scores}
            session.expunge(found)
        return found, scores

    return read_it


@pytest.fixture(autouse=True)
def sandbox_here(request, monkeypatch):
    """Starting the sandbox takes two seconds: only tests that ask for it do."""
    if "real_sandbox" in request.fixturenames:
        return
    from depthgauge.serve.submissions import sandbox, worker

    monkeypatch.setattr(worker, "run_sandbox", lambda site, job, task: sandbox.check(task))


@pytest.fixture
def real_sandbox():
    """Asks for the process."""


@pytest.fixture
def running(site, database):
    """The address of the site, while it is served."""
    with served(site, database) as address:
        yield address


@contextmanager
def served(site, database):
    """Serves a site as long as the block lasts; gives its address."""
    uvicorn = pytest.importorskip("uvicorn", reason="extra [serve]")
    from depthgauge.serve.web.app import make_app
    from depthgauge.serve.web.settings import WebSettings

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    app = make_app(site, database, WebSettings(f"http://127.0.0.1:{port}"))
    config = uvicorn.Config(app, "127.0.0.1", port, log_level="error", lifespan="off", ws="none")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{port}"
    server.should_exit = True
    thread.join()


@pytest.fixture
def page(chromium):
    """A window without cookies."""
    context = chromium.new_context()
    yield context.new_page()
    context.close()


@pytest.fixture
def client(site, database):
    """A visitor of the site at `http://site.example`."""
    from depthgauge.serve.web.app import make_app
    from depthgauge.serve.web.settings import WebSettings

    url = "http://site.example"
    app = make_app(site, database, WebSettings(url))
    return starlette.testclient.TestClient(app, base_url=url, follow_redirects=False)
