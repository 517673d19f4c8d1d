"""The property graph: model, schema, archive and stores. Knows nothing of hardware or simulation."""
