"""Energy of a run: charges, sums by part, line and launch."""
