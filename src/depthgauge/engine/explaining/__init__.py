"""The same maps under many protocols: measured once, finished many times."""
