"""Traffic whose outcome can be judged: single transfers against a formula, and lists of flows together."""

from kernbench.probes.report import STANDARD_BYTES, SWEEP_BYTES, ProbeReport, probe

__all__ = ["STANDARD_BYTES", "SWEEP_BYTES", "ProbeReport", "probe"]
