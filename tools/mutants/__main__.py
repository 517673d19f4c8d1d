"""``python -m tools.mutants``."""

from tools.mutants.run import main

main()
