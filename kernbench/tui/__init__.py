"""The terminal UI: ``models`` needs no terminal and no Textual, all else draws what it gives."""
