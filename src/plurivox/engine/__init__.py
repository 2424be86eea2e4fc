"""The engine: compiled kernels, the one EM loop, threads. It knows arrays only.

`threads` cuts the tasks into a fixed number of blocks and runs them on threads, `em` repeats E- and M-step with SQUAREM
acceleration, `confusion_em` holds both steps of models with confusion matrices, `jit` compiles kernels and caches them.
"""
