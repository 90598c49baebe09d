"""Secrets: random ones, of which only a hash is kept, and passwords of people."""

from __future__ import annotations

import hashlib
import secrets as system
import threading
from functools import cache

from argon2 import PasswordHasher
from argon2.exceptions import Argon2Error, InvalidHashError

from depthgauge.errors import Refused

LEAST_PASSWORD, MOST_PASSWORD = 10, 200
HASHER = PasswordHasher()
"""Argon2id with the parameters that RFC 9106 recommends where memory is short (64 MiB)."""
_AT_ONCE = threading.BoundedSemaphore(4)
"""Many who log in at once must not use up the memory."""


def new_secret() -> str:
    """A random secret of 256 bits, for links, cookies and tokens."""
    return system.token_urlsafe(32)


def new_id() -> str:
    """A random name that nobody can guess, short enough for an address."""
    return system.token_hex(8)


def secret_hash(secret: str) -> str:
    """What is stored of a random secret.

    A fast hash is enough: nobody can try 2^256 secrets. It is also why a look-up by the hash gives
    away nothing by its time.
    """
    return hashlib.sha256(secret.encode()).hexdigest()


def password_hash(password: str) -> str:
    """What is stored of a password.

    Raises:
        Refused: It is too short, or longer than anybody types.
    """
    if not LEAST_PASSWORD <= len(password) <= MOST_PASSWORD:
        raise Refused(
            "invalid", f"A password has {LEAST_PASSWORD} to {MOST_PASSWORD} characters; try another"
        )
    with _AT_ONCE:
        return HASHER.hash(password)


def is_password(password: str, stored: str | None) -> bool:
    """Whether a password is the stored one; takes as long where nothing is stored."""
    known = stored or _nobodys()
    try:
        with _AT_ONCE:
            right = HASHER.verify(known, password[:MOST_PASSWORD])
    except (Argon2Error, InvalidHashError):
        return False
    return right and stored is not None


@cache
def _nobodys() -> str:
    return HASHER.hash(new_secret())
