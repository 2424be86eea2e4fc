"""Training of several runs in parallel: interleaved, or as one stacked net."""
