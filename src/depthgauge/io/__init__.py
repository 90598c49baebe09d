"""Bytes <-> maps, images, masks, point clouds and calibrations: one module per format.

Readers convert to the package's conventions at the edge (missing is NaN, RGB, metres, pixels) and
writers convert back; nothing else in the package opens such a file. Every bad file gives exactly
one `BadFile` or `TooLarge` sentence, and sizes are checked before anything is allocated.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from depthgauge.io._files import MAX_PIXELS, write_bytes, write_text

if TYPE_CHECKING:
    from depthgauge.io.calibrations.exif import focal_from_exif
    from depthgauge.io.calibrations.light_field_parameters import (
        LightFieldParameters,
        read_light_field_parameters,
        write_light_field_parameters,
    )
    from depthgauge.io.calibrations.middlebury_calib import (
        MiddleburyCalib,
        read_middlebury_calib,
        read_middlebury_limits,
        write_middlebury_calib,
    )
    from depthgauge.io.calibrations.opencv_storage import (
        read_opencv_calibration,
        write_opencv_calibration,
    )
    from depthgauge.io.image import is_deep, read_image, read_labels, read_mask, write_image
    from depthgauge.io.maps import guess_quantity, map_size, read_map, stored_dtype, write_map
    from depthgauge.io.meshes.glb import write_glb
    from depthgauge.io.meshes.ply import PointCloud, read_ply, write_ply
    from depthgauge.io.pfm import map_pfm, pfm_scale
    from depthgauge.io.video import (
        DepthWriter,
        VideoInfo,
        VideoReader,
        VideoWriter,
        depth_scale,
        read_depth_frame,
        read_video_frame,
        video_info,
    )

# Where each name lives; a module is imported when one of its names is first used.
_HOMES = {
    "DepthWriter": "video",
    "LightFieldParameters": "calibrations.light_field_parameters",
    "MiddleburyCalib": "calibrations.middlebury_calib",
    "PointCloud": "meshes.ply",
    "VideoInfo": "video",
    "VideoReader": "video",
    "VideoWriter": "video",
    "depth_scale": "video",
    "focal_from_exif": "calibrations.exif",
    "guess_quantity": "maps",
    "is_deep": "image",
    "map_pfm": "pfm",
    "map_size": "maps",
    "pfm_scale": "pfm",
    "read_depth_frame": "video",
    "read_image": "image",
    "read_labels": "image",
    "read_light_field_parameters": "calibrations.light_field_parameters",
    "read_map": "maps",
    "read_mask": "image",
    "read_middlebury_calib": "calibrations.middlebury_calib",
    "read_middlebury_limits": "calibrations.middlebury_calib",
    "read_opencv_calibration": "calibrations.opencv_storage",
    "read_ply": "meshes.ply",
    "read_video_frame": "video",
    "stored_dtype": "maps",
    "video_info": "video",
    "write_glb": "meshes.glb",
    "write_image": "image",
    "write_light_field_parameters": "calibrations.light_field_parameters",
    "write_map": "maps",
    "write_middlebury_calib": "calibrations.middlebury_calib",
    "write_opencv_calibration": "calibrations.opencv_storage",
    "write_ply": "meshes.ply",
}

__all__ = [
    "MAX_PIXELS",
    "DepthWriter",
    "LightFieldParameters",
    "MiddleburyCalib",
    "PointCloud",
    "VideoInfo",
    "VideoReader",
    "VideoWriter",
    "depth_scale",
    "focal_from_exif",
    "guess_quantity",
    "is_deep",
    "map_pfm",
    "map_size",
    "pfm_scale",
    "read_depth_frame",
    "read_image",
    "read_labels",
    "read_light_field_parameters",
    "read_map",
    "read_mask",
    "read_middlebury_calib",
    "read_middlebury_limits",
    "read_opencv_calibration",
    "read_ply",
    "read_video_frame",
    "stored_dtype",
    "video_info",
    "write_bytes",
    "write_glb",
    "write_image",
    "write_light_field_parameters",
    "write_map",
    "write_middlebury_calib",
    "write_opencv_calibration",
    "write_ply",
    "write_text",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'depthgauge.io' has no attribute '{name}'")
    thing = getattr(import_module(f"depthgauge.io.{_HOMES[name]}"), name)
    globals()[name] = thing
    return thing


def __dir__() -> list[str]:
    return sorted(__all__)
