"""Whether pictures, depth, lenses, baselines and poses of a stereo dataset agree."""
