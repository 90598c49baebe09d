"""Work in progress on one annotation: apply an event, undo it, and see at once what changed.

The contract, for pages and other programs:

- A `Session` holds one person's annotation of one picture. It opens no file: whoever uses it
  appends the records that `apply` was given, and those that `undo` and `redo` return, to the file
  (`records.append_record`). So `session.annotation` is always what the file's replay gives.
- `apply`, `undo` and `redo` take microseconds and raise `revision` by 1. They reconstruct nothing.
- `update` reconstructs the current revision at preview size and returns an `Update`. Only surfaces
  that an event touched are solved again, and the outcome equals `reconstruct` of the same
  annotation from scratch.
- All methods may be called from any thread. A new `update` cancels one that is still running: that
  one raises `Cancelled`, and its caller has nothing to send.
- `Update.payload()` gives the bytes for a page: depth, links between pixels, and notes; see
  `annotate.payload` for the layout. With `update(since=revision)` it has only the rectangle that
  changed since the update of that revision.

>>> from depthgauge.annotate.records import Focal, Header, Picture, Record, Stroke
>>> session = Session(Header(Picture("beach", 40, 30), Focal(50.0)))
>>> session.update().surfaces
1
>>> line = Stroke("occlusion", ((20, -1), (20, 30)), closer="left")
>>> session.apply(Record("stroke", "s1", line))
1
>>> session.update().surfaces
2
>>> session.undo()
(Record(event='remove', id='s1', value='stroke', at='', who='', source='', seconds=0.0),)
>>> session.update().surfaces
1
"""

from __future__ import annotations

import threading
from collections.abc import Iterable
from dataclasses import dataclass

from depthgauge.annotate.payload import Box, Picture, changed_box, packed
from depthgauge.annotate.reconstruct.reconstruction import (
    Reconstruction,
    ReconstructionCache,
    reconstruct,
)
from depthgauge.annotate.reconstruct.stopping import Stop
from depthgauge.annotate.records.annotation import Annotation, Header, Record
from depthgauge.annotate.records.files import History
from depthgauge.annotate.records.replay import after, difference, replayed

PREVIEW_PX = 300
"""Longer side of a preview."""


@dataclass(frozen=True)
class Update:
    """The reconstruction of one revision, and what is new in it."""

    revision: int
    since: int | None
    """The revision that `box` is relative to; None: the whole picture is new to the caller."""
    picture: Picture
    box: Box | None
    """x0, y0, x1, y1 in pixels of the preview, x1 and y1 exclusive: outside of it depth, links and
    surfaces are as they were. None if nothing changed."""

    @property
    def reconstruction(self) -> Reconstruction:
        """Depth, normals and surfaces at the size of the preview."""
        return self.picture.made

    @property
    def surfaces(self) -> int:
        """The number of continuous surfaces."""
        return int(self.reconstruction.segmentation.continuous.max(initial=0))

    @property
    def violated(self) -> tuple[str, ...]:
        """Ids of the strokes whose depth order does not hold."""
        return self.reconstruction.violated

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences for the annotator."""
        return self.reconstruction.notes

    def payload(self) -> bytes:
        """What a page needs to show it; less than 300 KB for a preview of 300 px."""
        return packed(self.picture, self.revision, self.since, self.box)


class Session:
    """One annotation in progress; see the top of this module for the contract."""

    def __init__(
        self,
        header: Header,
        records: Iterable[Record] = (),
        *,
        max_side_px: int = PREVIEW_PX,
        seed: int = 0,
    ) -> None:
        """Begins with the annotation that the records give.

        Args:
            header: The picture and its focal length.
            records: What was drawn before, as `records.history(path).records` has it.
            max_side_px: Longer side of the previews.
            seed: Chooses the side that owns each fold.
        """
        self._annotation = replayed(header, records)
        self._max_side_px, self._seed = max_side_px, seed
        self._revision = 0
        self._past: list[Annotation] = []
        self._future: list[Annotation] = []
        self._state = threading.Lock()
        self._working = threading.Lock()
        self._stop = Stop()
        self._cache = ReconstructionCache()
        self._last: tuple[int, Picture] | None = None

    @classmethod
    def of(cls, told: History, *, max_side_px: int = PREVIEW_PX, seed: int = 0) -> Session:
        """A session that continues a file: `Session.of(history(path))`."""
        return cls(told.header, told.records, max_side_px=max_side_px, seed=seed)

    @property
    def annotation(self) -> Annotation:
        """The annotation after the last event."""
        with self._state:
            return self._annotation

    @property
    def revision(self) -> int:
        """The number of events since the session began."""
        with self._state:
            return self._revision

    def apply(self, record: Record) -> int:
        """Applies one event and returns the new revision."""
        with self._state:
            self._past.append(self._annotation)
            self._future.clear()
            self._annotation = after(self._annotation, record)
            self._revision += 1
            return self._revision

    def undo(self) -> tuple[Record, ...]:
        """Takes the last event back; returns the records that do so, none if there is no event.

        What was drawn before the session began cannot be taken back.
        """
        return self._moved(self._past, self._future)

    def redo(self) -> tuple[Record, ...]:
        """Takes the last undo back; returns the records that do so."""
        return self._moved(self._future, self._past)

    def _moved(self, source: list[Annotation], other: list[Annotation]) -> tuple[Record, ...]:
        with self._state:
            if not source:
                return ()
            records = tuple(difference(self._annotation, source[-1]))
            source.pop()
            other.append(self._annotation)
            for record in records:
                self._annotation = after(self._annotation, record)
            self._revision += 1
            return records

    def cancel(self) -> None:
        """Ends an update that is running, for example when its reader has gone."""
        with self._state:
            self._stop.cancel()

    def update(self, since: int | None = None, *, seconds: float | None = None) -> Update:
        """Reconstructs the current revision.

        Args:
            since: The revision of an update that the caller already shows.
            seconds: A time limit; see `Stop`.

        Raises:
            Cancelled: A later update was asked for, or `cancel` was called.
        """
        stop = Stop(seconds)
        with self._state:
            self._stop.cancel()
            self._stop = stop
        with self._working:
            stop.late()
            with self._state:
                annotation, revision = self._annotation, self._revision
            made = reconstruct(
                annotation,
                seed=self._seed,
                max_side_px=self._max_side_px,
                cache=self._cache,
                stop=stop,
            )
            picture = Picture.of(made)
            before, self._last = self._last, (revision, picture)
        if before is None or since is None or before[0] != since:
            height, width = made.depth.shape
            return Update(revision, None, picture, (0, 0, width, height))
        return Update(revision, since, picture, changed_box(before[1], picture))
