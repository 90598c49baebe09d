"""Commands of `depthgauge capture` before the first step: import photographs, look at them."""
