"""Numerical engine on plain arrays: compiled kernels, the EM loop that all EM methods share, multithreading.

`threads` splits the tasks into a fixed number of blocks and runs them on threads, `em` repeats E- and M-step with SQUAREM
acceleration, `confusion_em` has both steps of models with confusion matrices, `jit` compiles kernels and caches them.
"""
