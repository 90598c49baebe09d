"""Views: what a generated picture is worth."""

from depthgauge.metrics.views._frames import frame_count

__all__ = ["frame_count"]
