"""Traffic whose outcome can be judged: single transfers against a formula, and lists of flows together."""
