"""Virtual environment of the libraries we compare with, separate from ours because their requirements conflict."""

import subprocess
import sys
from pathlib import Path

ENVIRONMENT = Path(__file__).parent.parent / ".venv-peers"
PYTHON = ENVIRONMENT / "bin" / "python"
REQUIREMENTS = [
    "crowd-kit==1.4.2",
    "pandas<3",
    "scikit-learn<1.6",
    "sparse",
    "pydantic",
    "annotated_types",
    "setuptools",
    "tqdm",
]


def peer_python() -> Path:
    """Return the Python interpreter of the environment; create the environment on first use."""
    if not (ENVIRONMENT / ".installed").is_file():
        subprocess.run([sys.executable, "-m", "venv", str(ENVIRONMENT)], check=True)
        pip = [str(PYTHON), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, *REQUIREMENTS], check=True)
        subprocess.run([*pip, "--no-deps", "peerannot==0.0.1.post43"], check=True)  # without torch and torchvision
        (ENVIRONMENT / ".installed").touch()
    return PYTHON
