"""View models: everything that the screens show, worked out without a terminal."""
