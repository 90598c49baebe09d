"""Scenes of six cameras in a row: videos, depth, baselines and poses (StereoGenBench)."""
