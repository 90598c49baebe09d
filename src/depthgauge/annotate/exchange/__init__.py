"""Annotations in the formats of other programs: COCO and Label Studio."""
