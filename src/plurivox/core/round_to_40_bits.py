"""Rounding of floats to 40 bits, so that rounding errors do not break ties."""

import numpy as np

from plurivox.core.array_types import Floats


def round_to_40_bits(values: Floats) -> Floats:
    """Return the values rounded to 40 bits (about twelve digits): numbers that differ by rounding errors become equal.

    >>> bool(0.1 + 0.2 == 0.3), len(np.unique(round_to_40_bits(np.array([0.1 + 0.2, 0.3]))))
    (False, 1)
    """
    mantissa, power = np.frexp(values)
    return np.ldexp(np.round(mantissa * 2.0**40) / 2.0**40, power)
