"""Step `audit`: how far the labels can be trusted."""

from depthgauge.capture.audit.step import SPEC, audit, plan, read_audit

__all__ = ["SPEC", "audit", "plan", "read_audit"]
