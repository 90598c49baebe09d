"""Draws everything that a site has to show, in this process."""

import json

from depthgauge.serve.board import publish
from depthgauge.serve.exhibits import drawer, queue
from depthgauge.serve.exhibits.pack import INDEX, read_member
from depthgauge.serve.storage.models import Submission
from depthgauge.serve.submissions import worker


def draw_all(site, database):
    """Draws what is not drawn yet: subject -> index, and a function that reads members."""
    packs = {}
    while (found := queue.take(database)) is not None:
        packs[found.subject] = drawer.draw(site, found)
        queue.finish(database, found, packs[found.subject])

    def read(subject, name):
        return read_member(site.blobs.path(packs[subject]), name)

    return {subject: json.loads(read(subject, INDEX)) for subject in packs}, read


def score_and_publish(site, database, sent, user, visibility="public"):
    """Has a submission scored, and shows it."""
    worker.work_once(site, database)
    with database.begin() as session:
        publish(session, session.get_one(Submission, sent.id), user, visibility)
    return sent.id
