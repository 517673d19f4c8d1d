"""The processing element: its components, its commands, its tile plans."""
