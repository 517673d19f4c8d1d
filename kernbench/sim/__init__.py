"""The engine: clock, links, flits, transactions, the trace. Knows no particular component."""
