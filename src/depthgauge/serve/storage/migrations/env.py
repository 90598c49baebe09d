"""Alembic's entry: runs the migrations on the database of a site."""

from __future__ import annotations

from alembic import context

from depthgauge.serve.storage.database import engine_of, open_database
from depthgauge.serve.storage.models import Base

engine = engine_of(open_database(context.config.attributes["url"]))
try:
    with engine.connect() as connection:
        context.configure(connection, target_metadata=Base.metadata, render_as_batch=True)
        with context.begin_transaction():
            context.run_migrations()
finally:  # also when the version is refused
    engine.dispose()
