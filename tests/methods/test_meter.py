from __future__ import annotations

import time

import numpy as np
import pytest

from depthgauge.methods import Usage, metered
from depthgauge.methods._calls import meter


def allocate() -> int:
    block = np.ones(25_000_000)  # 200 MB
    time.sleep(0.5)  # the sampler must have a chance to look
    return block.size


def test_a_call_that_allocates_shows_it():
    before = _resident_mb()
    count, usage = metered(allocate)
    assert count == 25_000_000
    assert usage.peak_memory_mb >= before + 190
    _, later = metered(lambda: None)
    assert later.peak_memory_mb < usage.peak_memory_mb - 100  # a peak is of one call alone


def test_the_sampler_sees_it_too(monkeypatch, tmp_path):
    monkeypatch.setattr(meter._HighWaterMark, "works", staticmethod(lambda process="self": False))
    before = _resident_mb()
    _, usage = metered(allocate)
    assert usage.peak_memory_mb >= before + 190


def test_where_the_system_tells_nothing(monkeypatch, tmp_path):
    monkeypatch.setattr(meter._HighWaterMark, "works", staticmethod(lambda process="self": False))
    monkeypatch.setattr(meter, "status_bytes", lambda key, process="self": None)
    value, usage = metered(lambda: 3)
    assert (value, usage.peak_memory_mb) == (3, None)


def test_time_is_not_processor_time():
    _, asleep = metered(lambda: time.sleep(0.2))
    assert 0.2 <= asleep.time_s < 60
    assert asleep.cpu_s < 0.1

    def work() -> None:
        end = time.process_time() + 0.1
        while time.process_time() < end:
            pass

    _, awake = metered(work)
    assert awake.cpu_s >= 0.1
    assert awake.time_s >= 0.09


def test_an_error_comes_through():
    with pytest.raises(ZeroDivisionError):
        metered(lambda: 1 / 0)


def test_usage_is_a_plain_value():
    assert Usage(1.0, 2.0, None) == Usage(1.0, 2.0, None)


def _resident_mb() -> float:
    return meter.status_bytes("VmRSS") / 1e6
