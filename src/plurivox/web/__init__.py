"""Web: the studio, in which people give soft labels. `create_app` makes it; `plurivox studio` opens it."""

from plurivox.core.lazy import importer

HOMES = {"create_app": "server.app"}
__all__ = ["create_app"]
__getattr__ = importer(__name__, HOMES)


def __dir__() -> list[str]:
    return __all__
