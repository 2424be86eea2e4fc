"""Time to simulate 5 million votes, relative to numpy drawing 5 million uniform numbers."""

from benchmarks.measurement import run_alternating, run_code

N_TASKS, N_WORKERS, FEEDBACK = 500_000, 1_000, 10
LIMIT = 25
SOFT_TASKS = 20_000


def run() -> list[tuple[str, str, str]]:
    """Run the benchmark and return table rows (claim, measured value, limit)."""
    numbers = f"numpy.random.default_rng(0).random({N_TASKS * FEEDBACK})"
    crowd = f"n_tasks={N_TASKS}, n_workers={N_WORKERS}, feedback={FEEDBACK}"
    tail = f"{crowd}, label_tail=1.1, worker_tail=0.8"
    soft = f"n_tasks={SOFT_TASKS}, n_workers={N_WORKERS}, feedback={FEEDBACK}, n_labels=10"
    found = run_alternating(
        {
            "numpy": lambda: run_code(numbers, f"import numpy; {numbers}"),  # once before, so that the memory is mapped
            "votes": lambda: run_code(
                f"IndependentConfusion({crowd}).draw()",
                "from plurivox.simulate import IndependentConfusion; IndependentConfusion().draw()",
            ),
            "tail": lambda: run_code(
                f"IndependentConfusion({tail}).draw()",
                "from plurivox.simulate import IndependentConfusion; IndependentConfusion().draw()",
            ),
            "soft": lambda: run_code(
                f"SoftAnswers({soft}).draw()", "from plurivox.simulate import SoftAnswers; SoftAnswers().draw()"
            ),
        }
    )
    baseline = found["numpy"].seconds

    def ratio_text(name: str) -> str:
        return (
            f"{found[name].seconds / baseline:.1f}x numpy's uniforms ({found[name].seconds:.2f} s / {baseline:.3f} s)"
        )

    answers = (
        f"{1e6 * found['soft'].seconds / (SOFT_TASKS * FEEDBACK):.1f} us per answer ({found['soft'].seconds:.2f} s)"
    )
    return [
        ("simulate 5M votes, time", ratio_text("votes"), f"{LIMIT}x"),
        ("simulate 5M votes, long-tailed labels and workers", ratio_text("tail"), "none"),
        (f"simulate {SOFT_TASKS * FEEDBACK // 1000}k soft answers", answers, "none"),
    ]
