"""Keeps what a method does to its process away from its next estimate."""

from __future__ import annotations

import os
import random
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import numpy as np

from depthgauge._canonical import hash_json


@contextmanager
def isolated(sample: str, seed: int) -> Iterator[None]:
    """Restores working folder, environment, import paths and NumPy's settings afterwards.

    The global random generators start in the same state for the same sample and seed, so that
    an estimate does not depend on what ran before it.
    """
    folder, environment, paths = os.getcwd(), dict(os.environ), list(sys.path)
    errors = np.geterr()
    kept = random.getstate(), np.random.get_state()  # noqa: NPY002  # methods use the global one
    start = int(hash_json([sample, seed])[:8], 16)
    random.seed(start)
    np.random.seed(start)  # noqa: NPY002
    try:
        yield
    finally:
        random.setstate(kept[0])
        np.random.set_state(kept[1])  # noqa: NPY002
        np.seterr(**errors)
        sys.path[:] = paths
        if os.environ != environment:
            os.environ.clear()
            os.environ.update(environment)
        with suppress(OSError):  # the folder may be gone
            os.chdir(folder)
