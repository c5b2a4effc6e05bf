"""One peer in a process of its own, so that its memory is its own and it stays warm between rounds.

worker.py PEER ARCH FOLDER THREADS reads weights.safetensors and inputs.safetensors, writes what it
predicts to PEER.safetensors, and says on stdout, in lines of JSON, that it is ready or why it
failed. Each "run" on stdin is then answered with seconds and memory, until stdin ends.
"""

import importlib
import json
import os
import resource
import sys
import time
from pathlib import Path

from safetensors.numpy import save_file

from catalogue import PEERS


def kilobytes(path, key):
    for line in Path(path).read_text().splitlines():
        if line.startswith(key):
            return int(line.split()[1])
    return 0


def limit_memory():
    """What does not fit fails by itself, instead of ending other programs."""
    available = kilobytes("/proc/meminfo", "MemAvailable:") * 1024
    if available:
        resource.setrlimit(resource.RLIMIT_DATA, (available, available))


def reset_peak():
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        pass  # the peak is then that of the whole process


def peak_bytes():
    return kilobytes("/proc/self/status", "VmHWM:") * 1024


def timed(evaluate):
    """As mezzotint bench --runs 1: one run to warm up, one that counts, the peak of both."""
    reset_peak()
    evaluate()
    start = time.perf_counter()
    evaluate()
    seconds = time.perf_counter() - start
    return {"seconds": seconds, "peak_bytes": peak_bytes()}


def one_line(error):
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[0] if lines else 'no message'}"[:300]


def main():
    key, arch, folder, threads = sys.argv[1:]
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what libraries print is no answer

    def answer(content):
        print(json.dumps(content), file=answers, flush=True)

    try:
        limit_memory()
        peer = PEERS[key]
        evaluate = importlib.import_module(peer.module).prepare(
            arch, Path(folder), int(threads), **peer.options)
        save_file({"eps": evaluate()}, Path(folder) / f"{key}.safetensors")
        answer({"ready": True, "preparing_peak_bytes": peak_bytes()})
        for _ in sys.stdin:
            answer(timed(evaluate))
    except Exception as error:  # whatever a peer raises is the reason that the table gives
        answer({"error": one_line(error)})
        raise


if __name__ == "__main__":
    main()
