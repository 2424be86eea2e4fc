"""Immutable data types that all other packages exchange (Votes, SoftLabels, Fit, ...), and base classes; needs only numpy."""
