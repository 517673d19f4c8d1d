"""ArcadeDB, the engine of free Cypher in memory and in a folder: a process of its own, asked over a pipe."""
