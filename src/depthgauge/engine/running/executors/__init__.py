"""Where tasks run: one file per executor, each with a `SPEC` and `run`."""

from __future__ import annotations

from depthgauge.engine.running.executors._executor import EXECUTORS, Executor, ExecutorSpec

__all__ = ["EXECUTORS", "Executor", "ExecutorSpec"]
