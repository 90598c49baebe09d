"""Our times beside what people use today, all in one run: `python -m perf`."""
