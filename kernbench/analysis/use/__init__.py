"""Use of parts over time: occupancy, roofline, contention, memory held."""
