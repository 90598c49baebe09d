"""Annotation records: what people drew, as files that are only ever added to."""
