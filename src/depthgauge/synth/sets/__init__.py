"""One module or folder per kind of data that `depthgauge make` writes."""
