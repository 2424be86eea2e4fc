import numpy as np

from plurivox.engine.kernels.fast_math import fast_exp, fast_log
from plurivox.engine.numba_compilation import compile_kernel


@compile_kernel
def both(x, logs, exps):
    for i in range(len(x)):
        logs[i] = fast_log(x[i])
        exps[i] = fast_exp(logs[i])


def test_fast_log_and_exp_match_numpy():
    x = np.concatenate([np.logspace(-300, 300, 200_001), np.linspace(0.5, 2, 200_001), [1.0, 1e-300]])
    logs, exps = np.empty_like(x), np.empty_like(x)
    both(x, logs, exps)
    np.testing.assert_allclose(logs, np.log(x), rtol=1e-15, atol=1e-18)
    np.testing.assert_allclose(exps, np.exp(logs), rtol=5e-16)


def test_fast_exp_underflows_to_zero():
    assert fast_exp(-709.0) == 0.0 and fast_exp(-np.inf) == 0.0 and fast_exp(0.0) == 1.0
