"""What training needs beside the core: importing this says how to get it."""

from plurivox.core.errors import require_package

TORCH = require_package("torch", "training", "pip install 'plurivox[train]'")
