"""Step `audit`: how far the labels can be trusted."""

from depthgauge.capture.audit.step import audit, read_audit

__all__ = ["audit", "read_audit"]
