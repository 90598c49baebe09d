"""Photographs as cameras write them: their notes (EXIF), orientation, TIFF, RAW and HEIC."""
