"""What is shipped: one file for Kaggle, and the check that it will work there."""
