"""Windows of a run, and the use of its parts within each."""
