"""A study of agreement on disk: records of several people, depth of a sensor and of methods.

    STUDY/records/<person>/<picture>.jsonl
    STUDY/sensor/depth/<picture>.npy        metres, NaN where nothing was measured; optional
    STUDY/sensor/normals/<picture>.npy      our axes; optional, otherwise from the depth
    STUDY/images/<picture>.png              for viewing

The sensor has the camera that the records state.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from depthgauge import io
from depthgauge._options import signature_from
from depthgauge._progress import Progress
from depthgauge.annotate.options import AgreementOptions
from depthgauge.annotate.quality.agreement import AgreementTable, agreement
from depthgauge.annotate.quality.witnesses import Witness, human, measured
from depthgauge.annotate.reconstruct.reconstruction import camera_of
from depthgauge.annotate.records.annotation import Annotation
from depthgauge.annotate.records.folders import RecordFile, read_all
from depthgauge.datasets import DATASETS, find_estimate, read_estimate
from depthgauge.errors import BadData, DepthgaugeError
from depthgauge.geometry.intrinsics import scale_camera
from depthgauge.geometry.resizing import resize
from depthgauge.types import Camera, Map

SENSOR = "sensor"


@signature_from(AgreementOptions)
def compare_study(
    study: Path,
    methods: Mapping[str, Path] | None = None,
    *,
    options: AgreementOptions,
    notes: Callable[[str], None],
    progress: Progress | None = None,
) -> AgreementTable:
    """Compares the people of a study with each other and with a sensor, and methods with it.

    Args:
        study: The study's folder.
        methods: Folders of depth estimates by the method's name.
        notes: Called with a note about everything that was left out.
        progress: Called after each pair and each photograph.
        options: The fields of `AgreementOptions`, as keywords.

    Raises:
        BadData: There are no records, nothing to compare, or the sensor's folder has no depth.
    """
    witnesses = Study(
        study, sensor=options.sensor, methods=methods, max_side_px=options.size, notes=notes
    )
    return agreement(
        witnesses,
        rotate=options.rotation,
        margin_percent=options.margin,
        seed=options.seed,
        progress=progress,
    )


class Study:
    """The witnesses of every photograph of a study, one photograph after the other.

    Iterating gives the picture's id and its witnesses; a damaged file affects only its photograph.
    """

    def __init__(
        self,
        root: Path,
        *,
        sensor: Path | None = None,
        methods: Mapping[str, Path] | None = None,
        max_side_px: int | None = None,
        notes: Callable[[str], None],
    ) -> None:
        """Reads all records.

        Args:
            root: The study's folder, or one with records only.
            sensor: The folder with the sensor's `depth`; None: the study's own, if it has one.
            methods: Folders of depth estimates by the method's name.
            max_side_px: Reconstruct smaller pictures, for speed.
            notes: Called with a note about everything that was left out.

        Raises:
            BadData: There are no records, or the sensor's folder has no depth.
        """
        own = root / SENSOR
        self._sensor = sensor if sensor is not None else own if own.is_dir() else None
        if self._sensor is not None and not (self._sensor / "depth").is_dir():
            raise BadData(f"{self._sensor}: has no folder 'depth' with a map for each photograph.")
        for name, folder in (methods or {}).items():
            if not folder.is_dir():
                raise BadData(f"{folder}: there is no such folder of estimates of '{name}'.")
        self._methods, self._side_px, self._notes = methods or {}, max_side_px, notes
        self._records: dict[str, list[RecordFile]] = {}
        for recorded in read_all([root], notes=notes):
            self._records.setdefault(recorded.annotation.picture.id, []).append(recorded)

    def __len__(self) -> int:
        return len(self._records)

    def __iter__(self) -> Iterator[tuple[str, list[Witness]]]:
        for picture, people in self._records.items():
            try:
                yield picture, self._witnesses(picture, people)
            except DepthgaugeError as error:
                self._notes(f"{picture}: left out: {error}")

    def _witnesses(self, picture: str, people: list[RecordFile]) -> list[Witness]:
        if ".." in Path(picture).parts or Path(picture).is_absolute():
            raise BadData("the picture's name would lead out of the folder; rename it.")
        found = _people(people, self._side_px)
        annotation = people[0].annotation
        first = found[0]
        if self._sensor is not None:
            # Without it, distances of this photograph would be in another unit.
            found.append(_sensor(self._sensor, picture, annotation))
        found += [_method(name, at, picture, first) for name, at in self._methods.items()]
        return found


def _people(people: list[RecordFile], max_side_px: int | None) -> list[Witness]:
    return [
        replace(human(recorded.annotation, max_side_px=max_side_px), who=recorded.who)
        for recorded in people
    ]


def _sensor(folder: Path, picture: str, annotation: Annotation) -> Witness:
    path = folder / "depth" / f"{picture}.npy"
    if not path.is_file():
        raise BadData(f"{path}: does not exist; a sensor needs one map for every photograph.")
    depth = io.read_map(path, quantity="depth")
    if not (depth > 0).any():
        raise BadData(f"{path}: has no depth above 0 at any pixel; write metres.")
    width, height = annotation.picture.width_px, annotation.picture.height_px
    if abs(depth.shape[0] - height * depth.shape[1] / width) > 1.0:  # more than rounding
        raise BadData(
            f"{path}: is {depth.shape[1]}x{depth.shape[0]}, the annotated picture is "
            f"{width}x{height}; the sensor's map must be of the same photograph."
        )
    beside = folder / "normals" / f"{picture}.npy"
    normals = io.read_map(beside, quantity="normals") if beside.is_file() else None
    camera = _camera_for(depth, annotation)
    return measured("sensor", "sensor", depth, camera, normals=normals)


def _method(name: str, folder: Path, picture: str, person: Witness) -> Witness:
    """A method's depth, with the surfaces of the first person for a scale on each."""
    path = find_estimate(folder, DATASETS["oasis"], picture, "depth")
    if path is None:
        raise BadData(f"{folder}: method '{name}' has no depth estimate for '{picture}'.")
    estimate = read_estimate(path, DATASETS["oasis"], "depth")
    width, height = person.camera.size_px
    depth = resize(estimate.values, (height, width), "nearest", "depth")
    focal = person.camera.focal_px[0]
    if "focal_px" in estimate.parts:
        focal = float(estimate.parts["focal_px"]) * width / estimate.values.shape[1]
    camera = Camera((focal, focal), person.camera.centre_px, (width, height))
    return measured(name, "method", depth, camera, surfaces=person.surfaces, planar=person.planar)


def _camera_for(depth: Map, annotation: Annotation) -> Camera:
    """The camera of the records, for a map that may have another size."""
    camera = camera_of(annotation)
    height, width = depth.shape[:2]
    return camera if camera.size_px == (width, height) else scale_camera(camera, width, height)
