"""A service on a machine: its load, its cache, its steps, and what comes of them."""
