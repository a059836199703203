"""What is shipped: one file for Kaggle, and the check that it will work there."""

from submission.bundle import bundle, write

__all__ = ["bundle", "write"]
