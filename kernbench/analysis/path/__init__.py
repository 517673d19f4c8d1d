"""The critical path of a run, and the walks back in time that find it."""
