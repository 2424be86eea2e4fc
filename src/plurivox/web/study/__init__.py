"""A study: its configuration, its files, and how both are created, imported and exported."""

from plurivox.web.study.config import STUDY, Study, read_study

__all__ = ["STUDY", "Study", "read_study"]
