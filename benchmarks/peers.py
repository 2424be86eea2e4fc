"""An environment of the peers' own, so that their needs never meet ours."""

import subprocess
import sys
from pathlib import Path

HOME = Path(__file__).parent.parent / ".venv-peers"
PYTHON = HOME / "bin" / "python"
NEEDS = [
    "crowd-kit==1.4.2",
    "pandas<3",
    "scikit-learn<1.6",
    "sparse",
    "pydantic",
    "annotated_types",
    "setuptools",
    "tqdm",
]


def ready() -> Path:
    """The peers' interpreter; made on first use."""
    if not (HOME / ".installed").is_file():
        subprocess.run([sys.executable, "-m", "venv", str(HOME)], check=True)
        pip = [str(PYTHON), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, *NEEDS], check=True)
        subprocess.run([*pip, "--no-deps", "peerannot==0.0.1.post43"], check=True)  # its deep parts need torchvision
        (HOME / ".installed").touch()
    return PYTHON
