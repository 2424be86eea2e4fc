import numpy as np
import pytest

import plurivox as pv
from fresh_python import run_python
from plurivox import aggregate
from plurivox.core.compilation_callbacks import call_when_compiling, report_compilation
from plurivox.engine.second_compiler import _kernel_and_argument_types

ANNOUNCING = ["average", "dawid-skene", "ebcc", "fast-dawid-skene", "glad", "ibcc", "mace", "one-coin"]

TWO_KERNELS = """
import numpy as np
from plurivox.engine import second_compiler
from plurivox.engine.kernels.dirichlet_expected_logs import fill_log_gamma_digamma
from plurivox.engine.kernels.hierarchical_dawid_skene_gibbs import fill_logs
x = np.ones(3)
calls = [(fill_logs, (x, x)), (fill_log_gamma_digamma, (x, x, x))]
with second_compiler.announce_kernels(lambda: calls):
    fill_logs(x, x)
started = second_compiler._process is not None
if started:
    assert second_compiler._process.wait(60) == 0
fill_log_gamma_digamma(np.ones(3), x, x)
print(started, sum(fill_log_gamma_digamma.stats.cache_misses.values()), x.round(4).tolist())
"""


@pytest.mark.parametrize("name", ANNOUNCING)
def test_a_fit_calls_the_kernels_that_its_method_announces(name: str) -> None:
    votes, method = pv.read("toy").crowd(), aggregate.methods.make(name)
    calls = method.kernel_calls(votes)
    method.fit(votes)
    assert len(calls) >= 2
    for kernel, arguments in calls:
        assert _kernel_and_argument_types(kernel, arguments)[2] in kernel.signatures, kernel.__name__  # type: ignore[attr-defined]


def test_a_second_process_compiles_into_the_cache_once(tmp_path) -> None:
    folder = {"NUMBA_CACHE_DIR": str(tmp_path), "PLURIVOX_THREADS": "2"}
    assert run_python(TWO_KERNELS, **folder) == "True 0 [-0.5772, -0.5772, -0.5772]"  # digamma(1)
    assert run_python(TWO_KERNELS, **folder) == "False 0 [-0.5772, -0.5772, -0.5772]"  # all is cached: none starts


def test_with_one_thread_no_second_process_starts(tmp_path) -> None:
    said = run_python(TWO_KERNELS, NUMBA_CACHE_DIR=str(tmp_path), PLURIVOX_THREADS="1")
    assert said == "False 1 [-0.5772, -0.5772, -0.5772]"


def test_compilations_are_reported_inside_the_block_only() -> None:
    seen: list[bool] = []
    with call_when_compiling(seen.append):
        report_compilation(True)
        report_compilation(False)
    report_compilation(True)
    assert seen == [True, False]


def test_numba_reports_what_it_compiles_and_garbage_is_collected_again() -> None:
    import gc

    from plurivox.engine.numba_compilation import compile_inlined_by_numba

    seen: list[bool] = []
    with call_when_compiling(seen.append):
        twice = compile_inlined_by_numba(lambda x: 2 * x)
        assert twice(np.int64(2)) == 4 and twice(np.int64(3)) == 6
    assert seen == [True, False] and gc.isenabled()
