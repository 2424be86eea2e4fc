"""What training needs beside the core: importing this says how to get it."""

from plurivox.core.errors import need

TORCH = need("torch", "training", "pip install 'plurivox[train]'")
