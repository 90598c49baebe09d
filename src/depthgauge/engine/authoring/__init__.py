"""New metrics, regions, datasets, methods, benchmarks and generators from templates."""
