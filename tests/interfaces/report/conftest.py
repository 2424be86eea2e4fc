"""Show the values of failed assertions of the shared checks."""

import pytest

pytest.register_assert_rewrite("report_checks")
