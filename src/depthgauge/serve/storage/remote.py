"""Archives in an S3-compatible store, or another one that fsspec knows, by its URL.

`s3://bucket/folder`; the account and the address of the store are in the usual environment
variables (`AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY`, `AWS_ENDPOINT_URL`).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

from depthgauge.errors import CannotWrite, MissingExtra, Misuse
from depthgauge.serve.storage.blobs import blob_name, file_sha256


class RemoteArchives:
    """Files that are named by their SHA-256, elsewhere. It connects when it is first used."""

    def __init__(self, url: str) -> None:
        if "://" not in url:
            raise Misuse(f"'{url}' is no address of a store; write s3://BUCKET/FOLDER")
        self.url = url.rstrip("/")

    @cached_property
    def _store(self) -> tuple[Any, str]:
        try:
            import fsspec

            system, root = fsspec.core.url_to_fs(self.url)
        except ImportError as error:
            scheme = self.url.partition(":")[0]
            raise MissingExtra(
                f"archives at {scheme}:// need {error.name or 's3fs'}; say: "
                "pip install 'depthgauge[s3]'"
            ) from None
        return system, root

    def _place(self, sha256: str) -> str:
        return f"{self._store[1]}/{blob_name(sha256)}"

    def stage(self, file: Path, sha256: str) -> None:
        """Sends a file whose hash is known to be right; sending it again changes nothing.

        Raises:
            CannotWrite: The store does not take it.
        """
        system, _ = self._store
        try:
            system.put_file(str(file), self._place(sha256))
        except Exception as error:  # each store has its own kinds
            raise CannotWrite(
                f"{self.url}: does not take an archive ({type(error).__name__}); see its logs."
            ) from error

    def move_in(self, file: Path, sha256: str) -> None:
        """Removes a file that was staged."""
        file.unlink(missing_ok=True)

    def fetch(self, sha256: str, to: Path) -> None:
        """Copies an archive to a file.

        Raises:
            OSError: The store does not answer, or what it gives is something else.
        """
        (system, _), place = self._store, self._place(sha256)
        try:
            system.get_file(place, str(to))
        except FileNotFoundError:
            raise
        except Exception as error:  # each store has its own kinds
            raise OSError(
                f"{self.url}: does not answer ({type(error).__name__}: {error})"
            ) from error
        if file_sha256(to) != sha256:
            raise OSError(f"{self.url}: what it gave for {sha256[:12]} has another hash")

    def remove(self, sha256: str) -> None:
        """Removes an archive; nothing happens if there is none."""
        system, _ = self._store
        if system.exists(self._place(sha256)):
            system.rm_file(self._place(sha256))

    def __iter__(self) -> Iterator[str]:
        system, root = self._store
        if system.exists(root):
            system.invalidate_cache()
            yield from sorted(path.rpartition("/")[2] for path in system.find(root))
