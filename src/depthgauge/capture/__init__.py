"""From a rig's photographs to disparity maps with a stated error, step by step.

Each step is a function here and a command of `depthgauge capture`; `steps.py` keeps what they made.
"""
