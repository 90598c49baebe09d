"""Annotation by the members of a site: batches of photographs, who draws on which, votes."""
