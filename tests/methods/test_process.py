"""A method's process: what it sends is checked, closed, and cannot take longer than its limit."""

import os
import socket
import threading
import time

import numpy as np
import pytest

from depthgauge.errors import BadEstimate, MethodFailed, UnreadableInput
from depthgauge.methods import find_method
from depthgauge.methods._process import MethodProcess, ProcessLost, wire

GIVEN = {"sample": "a", "seed": 0, "quantity": "disparity"}
IMAGE = np.zeros((4, 6, 3), np.uint8)
HEAD = "import os\nimport numpy as np\nfrom depthgauge.methods._process import wire\n"


@pytest.fixture
def started(tmp_path):
    """Starts the method with that body; all processes end with the test."""
    processes = []

    def start(body):
        path = tmp_path / f"m{len(processes)}.py"
        lines = "\n    ".join(body.strip().splitlines())
        path.write_text(f"{HEAD}def estimate(inputs):\n    {lines}\n")
        process = MethodProcess()
        processes.append(process)
        process.load(find_method(str(path)), 60)
        return process

    yield start
    for process in processes:
        process.stop()


def asked(process, sample="a", lazy=None, read=lambda name, frame: IMAGE, limit_s=60):
    given = {**GIVEN, "sample": sample, "left_image": IMAGE}
    return process.estimate("method 'm'", given, lazy or {}, read, limit_s)[0]


def descriptors():
    return len(os.listdir("/proc/self/fd"))


def test_a_method_that_returned_nonsense_can_be_asked_again(started):
    process = started("return 'no' if inputs['sample'] == 'bad' else np.ones((4, 6))")
    with pytest.raises(BadEstimate, match="str"):
        asked(process, "bad")
    assert not process.busy
    assert asked(process).values.shape == (4, 6)
    assert not process.busy


def test_a_method_whose_input_cannot_be_read_is_busy(started):
    def read(name, frame):
        raise UnreadableInput("a.png: is damaged.")

    process = started("return np.ones(inputs['right_image'].shape[:2])")
    with pytest.raises(UnreadableInput, match="is damaged"):
        asked(process, lazy={"right_image": None}, read=read)
    assert process.busy


NEEDY = """
pipe = next(s for s in __import__('gc').get_objects() if type(s).__name__ == '_Server')._pipe
for _ in range(20):
    wire.send(pipe, {'need': 'right_image', 'of_frame': None}, os.open('/dev/null', os.O_RDONLY))
    os.close(wire.receive(pipe)[1])
wire.send(pipe, {'failed': 'no', 'details': ''}, os.open('/dev/null', os.O_RDONLY))
os._exit(0)
"""


def test_memory_that_nobody_wants_is_closed(started):
    process = started(NEEDY)
    before = descriptors()
    with pytest.raises(MethodFailed, match="no"):
        asked(process, lazy={"right_image": None})
    assert descriptors() == before


FRAMES = """
pipe = next(s for s in __import__('gc').get_objects() if type(s).__name__ == '_Server')._pipe
for n in range(3):
    wire.send(pipe, {'frame': n, 'none': True}, os.open('/dev/null', os.O_RDONLY))
__import__('time').sleep(60)
"""


@pytest.mark.parametrize(("length", "most"), [(2, 2), (None, 0)])
def test_a_method_cannot_send_more_frames_than_the_clip_has(started, length, most):
    process = started(FRAMES)
    before = descriptors()
    lazy = {} if length is None else {"video": length}
    with pytest.raises(ProcessLost, match=f"more frames than the {most} of the sample"):
        asked(process, lazy=lazy)
    assert descriptors() == before
    assert process.busy


DRIP = """
pipe = next(s for s in __import__('gc').get_objects() if type(s).__name__ == '_Server')._pipe
body = (1 << 20).to_bytes(4, 'little') + b' ' * 1000
for byte in body:
    pipe.send(bytes([byte]))
    __import__('time').sleep(0.2)
"""


def test_sending_byte_by_byte_does_not_extend_the_limit(started):
    process = started(DRIP)
    began = time.monotonic()
    with pytest.raises(ProcessLost) as lost:
        asked(process, limit_s=1.0)
    assert lost.value.late
    assert time.monotonic() - began < 20


def test_a_message_has_until_its_deadline():
    ours, theirs = socket.socketpair()
    with ours, theirs:
        sender = threading.Timer(0.1, wire.send, (theirs, {"a": 1}))
        sender.start()
        assert wire.receive(ours, time.monotonic() + 60) == ({"a": 1}, None)
        sender.join()
        with pytest.raises(TimeoutError):
            wire.receive(ours, time.monotonic() - 1)


def test_what_ended_a_process_is_said(started):
    process = started("os._exit(3) if inputs['sample'] == 'a' else os.kill(os.getpid(), 9)")
    with pytest.raises(ProcessLost, match="the method's process ended with exit code 3"):
        asked(process)
    process = started("os.kill(os.getpid(), 9)")
    with pytest.raises(ProcessLost, match="was ended by SIGKILL, perhaps because memory ran out"):
        asked(process)
