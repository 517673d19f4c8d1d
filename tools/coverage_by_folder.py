"""Prints how many statements of each folder of the product the tests ran: the end of ``make coverage``."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path


def main() -> None:
    """Read what ``coverage combine`` left, and print a line a folder and one for all."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "coverage.json"
        subprocess.run([sys.executable, "-m", "coverage", "json", "--quiet", "-o", str(report)], check=True)
        files = json.loads(report.read_text(encoding="utf-8"))["files"]
    statements, missing = Counter[str](), Counter[str]()
    for name, of in files.items():
        for folder in ("/".join(Path(name).parts[:-1][:3]), "all"):
            statements[folder] += of["summary"]["num_statements"]
            missing[folder] += of["summary"]["missing_lines"]
    for folder, count in sorted(statements.items(), key=lambda entry: (entry[0] == "all", entry[0])):
        ran = count - missing[folder]
        print(f"{folder:40} {ran:6} of {count:6} statements {ran / max(count, 1):7.1%}")


if __name__ == "__main__":
    main()
