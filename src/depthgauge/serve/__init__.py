"""A site: accounts, submissions to benchmarks with hidden truth, leaderboards.

Three kinds of processes work on one folder. The web process answers requests and cannot open any
truth (`lockout`). Workers check and score submissions (`submissions.worker`). The command line
administers. They meet in the database only.
"""
