"""The engine: compiled kernels, the one loop, threads. It knows arrays only.

`threads` cuts the tasks into a fixed number of blocks and runs them on threads, `em` climbs an objective, `jit` says
how a kernel is compiled and where the result is kept.
"""
