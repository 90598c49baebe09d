"""Turns a rig's photographs into disparity maps with a stated error, step by step.

Each step is a function here and a command of `depthgauge capture`; `steps.py` keeps their results.
"""
