"""What is run: benches, models, traffic and probes."""
