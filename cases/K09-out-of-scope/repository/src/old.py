"""Nobody uses this any more."""
