"""Datasets of depth from one picture, one file each."""
