"""Commands of `depthgauge serve` that have files of their own."""
