"""Check on import that torch is installed; MissingExtra with the install command otherwise."""

from plurivox.core.errors import require_package

TORCH = require_package("torch", "training", "pip install 'plurivox[train]'")
