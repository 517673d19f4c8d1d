"""The machine as it is described: topology files, kinds, addresses, routes."""
