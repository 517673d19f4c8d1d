"""Projections of the archive that answer Cypher. Nothing else imports their libraries."""
