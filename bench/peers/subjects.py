"""What is timed: peers, each in a worker process, and mezzotint. Each has run() and close()."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from safetensors.numpy import load_file

WORKER = Path(__file__).with_name("worker.py")


class Failure(Exception):
    """One line that says why a peer has no numbers."""


def environment(threads):
    """Waiting threads sleep by default, here as there; an OMP_WAIT_POLICY of the caller's could
    have the workers that wait for their turn disturb the one that runs."""
    values = {name: value for name, value in os.environ.items()
              if name not in ("OMP_WAIT_POLICY", "GOMP_SPINCOUNT", "KMP_BLOCKTIME")}
    return values | {"OMP_NUM_THREADS": str(threads), "MKL_NUM_THREADS": str(threads)}


class PeerProcess:
    """Starting it prepares the peer and predicts once."""

    def __init__(self, key, arguments, folder):
        self.key = key
        self.folder = folder
        start = time.perf_counter()
        with open(folder / f"{key}.log", "w") as log:
            self.process = subprocess.Popen(
                [sys.executable, str(WORKER), key, arguments.arch, str(folder),
                 str(arguments.threads)],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True,
                env=environment(arguments.threads))
        try:
            self.preparing_peak_bytes = self.answer()["preparing_peak_bytes"]
        except BaseException:
            self.close()
            raise
        self.preparing_seconds = time.perf_counter() - start

    def answer(self):
        line = self.process.stdout.readline()
        if not line:
            raise Failure(ending(self.process.wait()))
        answer = json.loads(line)
        if "error" in answer:
            raise Failure(answer["error"])
        return answer

    def run(self):
        try:
            self.process.stdin.write("run\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass  # answer() says how it ended
        return self.answer()

    def predicted(self):
        return load_file(self.folder / f"{self.key}.safetensors")["eps"]

    def close(self):
        try:
            self.process.stdin.close()
        except BrokenPipeError:
            pass
        self.process.wait()
        self.process.stdout.close()


def ending(code):
    if code < 0:
        return f"ended by {signal.Signals(-code).name}" + (
            ", most likely for want of memory" if -code == signal.SIGKILL else "")
    return f"ended with exit code {code}"


class Mezzotint:
    """mezzotint bench, a process for each run: it warms up by itself."""

    def __init__(self, arguments, folder, precision, threads=None):
        self.threads = threads or arguments.threads
        self.command = [
            str(arguments.mezzotint), "bench", "--model", str(folder / "weights.safetensors"),
            "--input", str(folder / "inputs.safetensors"), "--size", arguments.size,
            "--precision", precision, "--threads", str(self.threads)]
        self.output = folder / f"mezzotint-{precision}.safetensors"
        self.isa = None

    def run(self):
        report = json.loads(call(
            self.command + ["--no-check", "--runs", "1", "--json"], self.threads))
        self.isa = report["isa"]
        return {"seconds": report["median_seconds"], "peak_bytes": report["peak_bytes"]}

    def predicted(self):
        call(self.command + ["--dump", "eps", "--out", str(self.output), "--overwrite"],
             self.threads)
        return load_file(self.output)["eps"]

    def close(self):
        pass


def call(command, threads):
    """What a command of ours says. A failure of ours ends the run: there is nothing to compare."""
    done = subprocess.run(command, capture_output=True, text=True, env=environment(threads))
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: {done.stderr.strip() or ending(done.returncode)}")
    return done.stdout
