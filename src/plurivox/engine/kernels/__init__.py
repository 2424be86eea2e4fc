"""Kernels: loops over votes, compiled. Plain arrays in and out, over the tasks `first` to `last` of one block.

`start` (n_tasks + 1,) says where the votes of each task lie; `key` (n_votes,) joins who voted and what was said:
worker * n_labels + said. A table over keys is flat and holds n_labels numbers per key, one for each label the task might
truly have, so that the evidence of a vote lies together; it ends with `simd.PAD` spare cells. `weight` is None where
every row is one plain vote, which then costs nothing. `width` is the SIMD width, see `simd`.
"""
