"""Videos: exact depth, any frame, damaged and unfinished files."""

import sys
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from depthgauge.errors import BadFile, CannotWrite, DoesNotFit, MissingExtra, Misuse, WrongShape
from depthgauge.io import _video_writing, video

av = pytest.importorskip("av", reason="videos need PyAV: pip install 'depthgauge[video]'")
SIZE = (48, 32)
COUNT = 21


def image_of(index):
    """Smooth colours that say which frame it is."""
    y, x = np.mgrid[: SIZE[1], : SIZE[0]]
    channels = [3 * y + 5 * index, 5 * x, np.full_like(x, 10 * index)]
    return np.stack(channels, axis=-1).astype(np.uint8)


def depth_of(index, scale_m=0.001):
    codes = np.random.default_rng(index).integers(1, 65535, SIZE[::-1])
    depth = (codes * np.float64(scale_m)).astype(np.float32)
    depth[0, :3] = np.nan
    return depth


@pytest.fixture(scope="module")
def colour(tmp_path_factory):
    path = tmp_path_factory.mktemp("video") / "cam_00_rgb.mp4"
    with video.VideoWriter(path, SIZE, quality=4) as out:
        for index in range(COUNT):
            out.add(image_of(index))
    return path


@pytest.fixture(scope="module")
def depth(tmp_path_factory):
    path = tmp_path_factory.mktemp("video") / "cam_00_depth.mkv"
    with video.DepthWriter(path, SIZE) as out:
        for index in range(COUNT):
            out.add(depth_of(index))
    return path


def test_the_header_says_how_a_video_was_written(colour, depth):
    info = video.video_info(colour)
    assert (info.frames, info.size_px, info.fps, info.codec) == (COUNT, SIZE, 15.0, "h264")
    assert {name: info.tags[name] for name in ("crf", "preset", "group", "chroma")} == {
        "crf": "4",
        "preset": "veryfast",
        "group": "8",
        "chroma": "420",
    }
    info = video.video_info(depth)
    assert (info.frames, info.codec, info.pixel_format) == (COUNT, "ffv1", "gray16le")
    assert (info.scale_m, info.tags["depth_scale_m"]) == (0.001, "0.001")


def test_any_frame_is_the_one_that_was_written(colour):
    for index in (20, 0, 7, 8, 3, 19, -1, 5, 6):
        found = video.read_video_frame(colour, index).astype(int)
        assert np.abs(found - image_of(index % COUNT)).mean() < 2.5


@pytest.fixture
def decoded(monkeypatch):
    """An entry for each frame that is decoded."""
    found = []
    seek = video.VideoReader._seek

    def counting(reader, time):
        seek(reader, time)
        inner = reader._decoder
        reader._decoder = (found.append(1) or frame for frame in inner)

    monkeypatch.setattr(video.VideoReader, "_seek", counting)
    return found


def test_a_frame_in_the_middle_does_not_decode_the_whole_video(colour, decoded):
    with video.VideoReader(colour) as reader:
        reader.frame(20)
        assert len(decoded) == 20 % 8 + 1
        decoded.clear()
        reader.frame(4)
        reader.frame(5)
        assert len(decoded) == 6


def test_any_frame_of_depth_costs_one_decoded_frame(depth, decoded):
    with video.VideoReader(depth) as reader:
        for index in (20, 3, 9, 10, 11, 0):
            np.testing.assert_array_equal(reader.depth(index), depth_of(index))
    assert len(decoded) == 6


def test_key_frames_come_every_eight_frames_and_none_refers_to_later_ones(colour):
    with av.open(str(colour)) as container:
        packets = [p for p in container.demux(video=0) if p.size]
    assert [i for i, p in enumerate(packets) if p.is_keyframe] == [0, 8, 16]
    assert all(p.pts == p.dts for p in packets)


def test_depth_comes_back_to_the_bit(depth):
    with video.VideoReader(depth) as reader:
        for index in (20, 0, 13):
            np.testing.assert_array_equal(reader.depth(index), depth_of(index))
        for index, codes in enumerate(reader):
            assert codes.dtype == np.uint16
            np.testing.assert_array_equal(codes == 0, np.isnan(depth_of(index)))


@given(
    st.floats(1e-4, 50.0),
    st.lists(st.floats(1.0, 65000.0) | st.just(np.nan), min_size=4, max_size=4),
)
def test_depth_comes_back_to_half_a_code(tmp_path_factory, scale_m, codes):
    path = tmp_path_factory.mktemp("depth") / "d.mkv"
    wanted = (np.array(codes).reshape(2, 2) * scale_m).astype(np.float32)
    with video.DepthWriter(path, (2, 2), scale_m=scale_m) as out:
        out.add(wanted)
    with video.VideoReader(path) as reader:
        found = reader.depth(0)
    np.testing.assert_array_equal(np.isnan(found), np.isnan(wanted))
    # Half a code, and what float32 rounds.
    assert np.nanmax(np.abs(found - wanted) / scale_m, initial=0) <= 0.5 + 65000 * 2**-23


@given(st.floats(1e-3, 1e5))
def test_the_finest_scale_that_holds_a_depth(farthest_m):
    scale_m = video.depth_scale(farthest_m)
    assert farthest_m <= 65534 * scale_m <= 2.5 * farthest_m * (1 + 1e-9)


def test_a_scale_that_no_tag_says_is_a_tenth_of_a_metre(tmp_path):
    path = tmp_path / "old.mkv"
    with av.open(str(path), "w") as container:
        stream = container.add_stream("ffv1", rate=15)
        stream.width, stream.height, stream.pix_fmt = 4, 2, "gray16le"
        codes = np.array([[0, 1, 30, 65535], [5, 6, 7, 8]], np.uint16)
        frame = av.VideoFrame.from_ndarray(codes, "gray16le")
        frame.pts, frame.time_base = 0, Fraction(1, 15)
        for packet in (*stream.encode(frame), *stream.encode()):
            container.mux(packet)
    found = video.read_depth_frame(path, 0)
    np.testing.assert_allclose(found, [[np.nan, 0.1, 3.0, np.nan], [0.5, 0.6, 0.7, 0.8]], rtol=1e-6)


def test_the_same_frames_give_the_same_bytes(tmp_path, depth):
    again = tmp_path / "again.mkv"
    with video.DepthWriter(again, SIZE) as out:
        for index in range(COUNT):
            out.add(depth_of(index))
    assert again.read_bytes() == depth.read_bytes()


def test_the_same_pictures_give_the_same_bytes_whatever_is_in_memory(tmp_path):
    """Without `cpu-independent`, one of 15 to 300 such files differed."""
    rng = np.random.default_rng(0)
    tiles = rng.integers(0, 200, (12, 12, 3), dtype=np.uint8)
    frames = [np.kron(np.roll(tiles, k, 1), np.ones((8, 8, 1), np.uint8)) for k in range(5)]
    frames = [frame + rng.integers(0, 40, frame.shape, dtype=np.uint8) for frame in frames]
    found, junk = set(), []
    for _ in range(60):
        with video.VideoWriter(tmp_path / "again.mp4", (96, 96)) as out:
            for frame in frames:
                out.add(frame)
        found.add((tmp_path / "again.mp4").read_bytes())
        junk.append(rng.integers(0, 255, rng.integers(1, 200_000), dtype=np.uint8))
        if len(junk) > 20:
            junk.pop(int(rng.integers(20)))
    assert len(found) == 1


def test_444_keeps_colours_at_full_resolution(tmp_path):
    rng = np.random.default_rng(0)
    image = rng.integers(0, 256, (*SIZE[::-1], 3), dtype=np.uint8)
    errors = {}
    for chroma in ("420", "444"):
        with video.VideoWriter(tmp_path / "a.mp4", SIZE, quality=0, chroma=chroma) as out:
            out.add(image)
        found = video.read_video_frame(tmp_path / "a.mp4", 0)
        errors[chroma] = np.abs(found.astype(int) - image).mean()
    assert errors["444"] < 2 < errors["420"]


def test_a_truncated_depth_video_is_named_with_the_frame(tmp_path, depth):
    path = tmp_path / "cut.mkv"
    path.write_bytes(depth.read_bytes()[: depth.stat().st_size // 2])
    first = video.read_depth_frame(path, 0)  # what is there can be read
    np.testing.assert_array_equal(first, depth_of(0))
    with pytest.raises(BadFile, match=r"cut\.mkv: .*frame 20"):
        video.read_depth_frame(path, 20)
    with video.VideoReader(path) as reader, pytest.raises(BadFile, match="promises 21 frames"):
        reader.check()


def test_a_truncated_colour_video_is_named(tmp_path, colour):
    path = tmp_path / "cut.mp4"
    path.write_bytes(colour.read_bytes()[: colour.stat().st_size // 2])
    with pytest.raises(BadFile, match=r"cut\.mp4: cannot be opened"):
        video.read_video_frame(path, 0)


def test_a_flipped_bit_of_depth_is_found_by_its_checksum(tmp_path, depth):
    body = bytearray(depth.read_bytes())
    body[len(body) // 2] ^= 16
    path = tmp_path / "flipped.mkv"
    path.write_bytes(body)
    damaged = []
    with video.VideoReader(path) as reader:
        for index in range(COUNT):
            try:
                np.testing.assert_array_equal(reader.depth(index), depth_of(index))
            except BadFile as error:
                damaged.append((f"frame {index}:" in str(error), str(path) in str(error)))
    assert damaged == [(True, True)]


@given(st.data())
def test_a_damaged_video_is_read_or_refused_in_one_sentence(tmp_path_factory, colour, depth, data):
    """Cut anywhere, or with bytes changed anywhere."""
    source = data.draw(st.sampled_from([colour, depth]))
    body = bytearray(source.read_bytes())
    for _ in range(data.draw(st.integers(0, 3))):
        body[data.draw(st.integers(0, len(body) - 1))] = data.draw(st.integers(0, 255))
    path = tmp_path_factory.mktemp("damaged") / source.name
    path.write_bytes(body[: data.draw(st.integers(0, len(body)))])
    said = f"{path}: "
    try:
        with video.VideoReader(path, limit=2**20) as reader:
            for index in {0, len(reader) // 2, len(reader) - 1}:
                assert reader.frame(index).shape[:2] == reader.size_px[::-1]
            reader.check()
    except BadFile as error:
        said = str(error)
    assert said.startswith(f"{path}: ")
    assert "\n" not in said


def test_a_whole_video_passes_its_check(colour, depth):
    for path in (colour, depth):
        with video.VideoReader(path) as reader:
            reader.check()
            assert reader.frame(3).shape[:2] == SIZE[::-1]


@pytest.mark.parametrize("body", [b"", b"not a video" * 40])
def test_what_is_no_video_is_refused(tmp_path, body):
    path = tmp_path / "x.mp4"
    path.write_bytes(body)
    with pytest.raises(BadFile, match=r"x\.mp4: cannot be opened"):
        video.video_info(path)


def test_a_missing_file_and_a_folder_are_named(tmp_path):
    with pytest.raises(BadFile, match="there is no such file"):
        video.video_info(tmp_path / "none.mp4")
    with pytest.raises(BadFile, match="found a folder"):
        video.video_info(tmp_path)


def test_colour_is_not_taken_for_depth_nor_depth_for_colour(colour, depth):
    with pytest.raises(BadFile, match="must be 16-bit grey, found yuv420p"):
        video.read_depth_frame(colour, 0)
    with pytest.raises(BadFile, match="where colours are expected"):
        video.read_video_frame(depth, 0)
    with pytest.raises(Misuse, match="there is no frame 21, only 21"):
        video.read_video_frame(colour, 21)


def test_a_file_that_changed_is_read_anew(tmp_path):
    path = tmp_path / "a.mkv"
    for value in (1.0, 2.0, 3.0):
        with video.DepthWriter(path, (2, 2)) as out:
            out.add(np.full((2, 2), value))
        assert video.read_depth_frame(path, 0)[0, 0] == value


@pytest.mark.parametrize("wrong", [0.0, -1.0, 70.0, np.inf])
def test_a_depth_that_the_scale_cannot_hold_is_refused(tmp_path, wrong):
    path = tmp_path / "a.mkv"

    def write():
        with video.DepthWriter(path, (2, 1)) as out:
            out.add(np.array([[1.0, np.nan]]))
            out.add(np.array([[1.0, wrong]]))

    with pytest.raises(DoesNotFit, match=r"a\.mkv: frame 1 has depths"):
        write()
    assert list(tmp_path.iterdir()) == []


def test_writers_refuse_what_they_cannot_write(tmp_path):
    with pytest.raises(Misuse, match="even sizes"):
        video.VideoWriter(tmp_path / "a.mp4", (3, 2))
    with pytest.raises(Misuse, match="scale is 0"):
        video.DepthWriter(tmp_path / "a.mkv", (3, 2), scale_m=0)
    with (
        pytest.raises(WrongShape, match="frame 0 must be"),
        video.VideoWriter(tmp_path / "a.mp4", (4, 2)) as out,
    ):
        out.add(np.zeros((2, 2, 3), np.uint8))
    with (
        pytest.raises(CannotWrite, match="at least one frame"),
        video.DepthWriter(tmp_path / "a.mkv", (4, 2)),
    ):
        pass
    with (
        pytest.raises(CannotWrite, match=r"none/a\.mkv"),
        video.DepthWriter(tmp_path / "none/a.mkv", (4, 2)),
    ):
        pass
    with pytest.raises(Misuse, match="inside `with`"):
        video.DepthWriter(tmp_path / "a.mkv", (4, 2)).add(np.ones((2, 4)))
    assert list(tmp_path.iterdir()) == []


def test_without_pyav_one_sentence_says_what_to_install(monkeypatch, colour):
    monkeypatch.setitem(sys.modules, "av", None)
    with pytest.raises(MissingExtra, match=r"pip install 'depthgauge\[video\]'"):
        video.VideoReader(colour)
    assert _video_writing.import_av is video.import_av


def test_importing_the_module_does_not_import_pyav():
    import subprocess

    code = "import depthgauge.io.video, sys; sys.exit('av' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
