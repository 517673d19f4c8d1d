"""The machine as it runs: clock, links, ports, arbiters, components, programs."""
