"""Training without optional packages: no polars, narwhals, safetensors or scikit-learn."""

import subprocess
import sys
from pathlib import Path

import pytest

CODE = """
import sys
for name in ("polars", "narwhals", "pandas", "pyarrow", "safetensors", "sklearn", "torchvision", "PIL"):
    sys.modules[name] = None
sys.path.insert(0, {tests!r})
import plurivox.train
assert "torch" not in sys.modules
"""


def run(code: str) -> subprocess.CompletedProcess[str]:
    whole = CODE.format(tests=str(Path(__file__).parent.parent)) + code
    return subprocess.run([sys.executable, "-c", whole], capture_output=True, text=True)


@pytest.mark.slow
def test_training_saving_and_prediction_work(tmp_path: Path) -> None:
    done = run(
        "import torch; torch.set_num_threads(1)\n"
        "from toy_training import toy_data\n"
        "from plurivox.train import Plan, Trained, fit\n"
        "x, gold, votes = toy_data()\n"
        f"fit(x, votes, plan=Plan(epochs=2), folder={str(tmp_path)!r})\n"
        f"print(Trained.load({str(tmp_path)!r}).predict(x, gold.tasks))\n"
    )
    assert done.returncode == 0 and "60 tasks, 3 labels" in done.stdout, done.stderr


@pytest.mark.parametrize(
    ("code", "want"),
    [
        ("plurivox.train.CrowdClassifier", "CrowdClassifier needs sklearn; run: pip install scikit-learn"),
        ("sys.modules['torch'] = None; plurivox.train.fit", "training needs torch; run: pip install 'plurivox[train]'"),
        ("sys.modules['torch'] = None; import plurivox.train.losses", "training needs torch"),
    ],
)
def test_errors_name_the_missing_package(code: str, want: str) -> None:
    done = run(code)
    assert done.returncode != 0 and f"MissingExtra: {want}" in done.stderr
