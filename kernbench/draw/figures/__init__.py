"""Figures that matplotlib draws: it is imported only when something is drawn."""
