"""The openCypher TCK as a measure of the engine of free Cypher."""
