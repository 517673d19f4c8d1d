"""A process that does jobs of a sweep: pickled jobs on stdin, pickled answers on what was stdout."""

from __future__ import annotations

import os
import pickle
import queue
import shutil
import signal
import sys
import threading
from typing import BinaryIO

from kernbench.api.sweeps.jobs import Job, MachineJob, do


def main() -> None:
    """Do jobs until stdin ends, and then end at once: a sweep that was killed leaves nothing behind."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what benches print must not get between the answers
    sys.stdout = os.fdopen(1, "w", buffering=1, closefd=False)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the sweep, which ends its workers
    jobs: queue.SimpleQueue[Job] = queue.SimpleQueue()
    threading.Thread(target=_read, args=(sys.stdin.buffer, jobs), daemon=True).start()
    while True:
        job = jobs.get()
        try:
            answer: object = do(job)
        except Exception as error:
            answer = RuntimeError(f"unexpected {type(error).__name__}: {error}")
        pickle.dump(answer, answers, pickle.HIGHEST_PROTOCOL)
        answers.flush()


def _read(stream: BinaryIO, jobs: queue.SimpleQueue[Job]) -> None:
    """Pass jobs on; the end of the stream ends the process, whatever it is doing.

    A sweep kills its workers when it ends. If the stream ends first, the sweep was killed, and its compiled
    machines are of no more use.
    """
    folder = ""
    while True:
        try:
            job: Job = pickle.load(stream)
        except (EOFError, OSError, pickle.UnpicklingError):
            if folder:
                shutil.rmtree(folder, ignore_errors=True)
            os._exit(0)
        folder = job.folder if isinstance(job, MachineJob) else os.path.dirname(job.machine.file) or folder
        jobs.put(job)
