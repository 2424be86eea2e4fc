"""A study: its configuration (study.toml), its files, and functions that create, import, export and back it up."""

from plurivox.web.study.config import STUDY, Study, read_study

__all__ = ["STUDY", "Study", "read_study"]
