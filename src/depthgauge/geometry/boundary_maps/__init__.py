"""Maps of boundaries: edge strength, non-maximum suppression, thinning to lines."""
