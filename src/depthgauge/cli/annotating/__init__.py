"""Commands of `depthgauge annotate` that have files of their own."""
