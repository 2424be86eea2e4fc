"""Compiled loops over votes, on plain arrays, for the tasks `first` to `last` of one block.

The votes of task t are start[t]:start[t + 1]; `key` (n_votes,) combines worker and said label, worker * n_labels + said. A
table over keys is flat, with n_labels consecutive numbers per key, one for each possible true label; it ends with
`simd.PAD` spare cells. `weight` is None if every row is one plain vote. `width` is the SIMD width, see `simd`.
"""
