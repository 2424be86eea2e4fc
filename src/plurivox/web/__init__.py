"""The studio: a web application in which people give soft labels. `create_app` makes it, `plurivox studio` runs it."""

from plurivox.core.lazy_exports import lazy_getattr

EXPORTS = {"create_app": "server.app"}
__all__ = ["create_app"]
__getattr__ = lazy_getattr(__name__, EXPORTS)


def __dir__() -> list[str]:
    return __all__
