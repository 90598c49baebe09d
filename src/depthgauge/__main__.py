"""`python -m depthgauge`: the command line."""

from depthgauge.cli import main

if __name__ == "__main__":
    main()
