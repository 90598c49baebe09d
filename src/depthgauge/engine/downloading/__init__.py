"""Public datasets from their home pages: resumed, checked, unpacked with care."""
