"""Times one evaluation of a network in PyTorch, OpenVINO and mezzotint in turn, and compares what
they predict."""

import argparse
import contextlib
import json
import os
import sys
import tempfile
import time
from pathlib import Path

import torch
from safetensors.torch import save_file

import machine
import report
from activations import dump_activations
from catalogue import PEERS, TIMED, TRUTH
from subjects import Failure, Mezzotint, PeerProcess, call
from unet import PUBLISHED, published

ROOT = Path(__file__).resolve().parents[2]
MASK = ROOT / "models/demo-brain32/masks/healthy.nii.gz"
STEPS = 25
TIMESTEPS = 250


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mezzotint", type=Path, default=ROOT / "build/release/bin/mezzotint")
    parser.add_argument("--arch", default="whole-head:64", help="whole-head or brats, :base")
    parser.add_argument("--size", default="64", help="64, or 64x48x32 for x, y, z")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--peers", default=",".join(TIMED), help="some of %(default)s; or none")
    parser.add_argument("--precisions", default="fp32,strict", help="of mezzotint [%(default)s]")
    parser.add_argument("--blocks", action="store_true",
                        help="one peer at a time with mezzotint, when all do not fit the memory")
    parser.add_argument("--no-truth", action="store_true",
                        help="no evaluation in float64; errors are against the first peer")
    parser.add_argument("--scaling", action="store_true",
                        help="also time mezzotint with one thread")
    parser.add_argument("--volume", action="store_true",
                        help="also time mezzotint generate, once")
    parser.add_argument("--markdown", type=Path, help="write the table here, too")
    parser.add_argument("--json", type=Path, help="write the numbers here, too")
    parser.add_argument("--dump", type=Path,
                        help="write PyTorch's activations for mezzotint bench --diff, and stop")
    parser.add_argument("--keep", type=Path, help="folder for the weights, inputs and logs")
    arguments = parser.parse_args()
    if arguments.arch.partition(":")[0] not in PUBLISHED:
        parser.error(f"--arch: {arguments.arch} is none of {', '.join(PUBLISHED)}")
    if arguments.dump and not arguments.keep:
        parser.error("--dump needs --keep, the folder for the weights that it belongs to")
    if not os.access(arguments.mezzotint, os.X_OK):
        parser.error(f"--mezzotint: {arguments.mezzotint} is no program; build it, or say where")
    if arguments.rounds < 1:
        parser.error("--rounds: at least 1")
    if arguments.volume and not arguments.arch.startswith("whole-head"):
        parser.error("--volume needs --arch whole-head, for whose labels there is a mask")
    arguments.peers = [] if arguments.peers == "none" else arguments.peers.split(",")
    for key in arguments.peers:
        if key not in TIMED:
            parser.error(f"--peers: {key} is none of {', '.join(TIMED)}")
    arguments.precisions = arguments.precisions.split(",")
    sides = [int(side) for side in arguments.size.split("x")]
    arguments.sides = sides * 3 if len(sides) == 1 else sides
    return arguments


def make_inputs(arguments):
    recipe = PUBLISHED[arguments.arch.partition(":")[0]]
    volume = arguments.sides[::-1]
    generator = torch.Generator().manual_seed(1)
    return {
        "x": torch.randn(1, recipe["image_channels"], *volume, generator=generator),
        "condition": torch.randn(1, recipe["condition_channels"], *volume, generator=generator),
        "t": torch.tensor([125.0]),
    }


def say(text):
    print(f"{time.strftime('%H:%M:%S')} {text}", file=sys.stderr, flush=True)


class Bench:
    """The runs, predictions and failures of all that was asked for, by name."""

    def __init__(self, arguments, folder):
        self.arguments = arguments
        self.folder = folder
        self.ours = {precision: Mezzotint(arguments, folder, precision)
                     for precision in arguments.precisions}
        self.rows = {}
        self.own_runs = {precision: [] for precision in self.ours}

    def predict_truth(self):
        """Values, whose they are, and why not float64's."""
        reason = "not asked for"
        if not self.arguments.no_truth:
            say("float64: evaluating")
            try:
                process = PeerProcess(TRUTH, self.arguments, self.folder)
                process.close()
                return process.predicted(), "float64", None
            except Failure as failure:
                reason = str(failure)
        for key, row in self.rows.items():
            if "prediction" in row:
                return row["prediction"].astype("float64"), PEERS[key].title, reason
        first = next(iter(self.ours))
        return self.ours[first].predicted().astype("float64"), f"mezzotint, {first}", reason

    def start(self, keys, stack):
        started = {}
        for key in keys:
            try:
                process = PeerProcess(key, self.arguments, self.folder)
            except Failure as failure:
                self.fail(key, failure)
                continue
            stack.callback(process.close)
            started[key] = process
            self.rows[key] = {"prediction": process.predicted(),
                              "preparing_seconds": process.preparing_seconds,
                              "preparing_peak_bytes": process.preparing_peak_bytes}
            say(f"{key}: ready after {process.preparing_seconds:.0f} s")
        return started

    def fail(self, key, failure):
        self.rows[key] = {"failed": str(failure)}
        say(f"{key}: failed: {failure}")

    def measure(self, keys):
        """These peers and mezzotint in turn. Each round starts with another, so that none always
        follows the same one."""
        with contextlib.ExitStack() as stack:
            peers = self.start(keys, stack)
            runs = {name: [] for name in [*peers, *self.ours]}
            for number in range(self.arguments.rounds):
                names = list(runs)
                first = number % len(names)
                for name in names[first:] + names[:first]:
                    try:
                        runs[name].append((peers.get(name) or self.ours[name]).run())
                    except Failure as failure:
                        self.fail(name, failure)
                        del runs[name]
                say(f"round {number + 1} of {self.arguments.rounds}")
        ours = {precision: runs[precision] for precision in self.ours}
        for precision, own in ours.items():
            self.own_runs[precision] += own
        for key in peers:
            if key in runs:
                self.rows[key] |= {**report.timing(runs[key]),
                                   "ours_to_theirs": report.ours_to(runs[key], ours)}

    def finish(self, truth):
        """Rows in the order asked for, ours last."""
        rows = []
        for key in self.arguments.peers:
            row = {"name": key, "title": PEERS[key].title, **self.rows[key]}
            if "prediction" in row:
                row |= report.difference(row.pop("prediction"), truth)
            rows.append(row)
        for precision, subject in self.ours.items():
            rows.append({"name": f"mezzotint-{precision}", "title": f"mezzotint, `{precision}`",
                         **report.timing(self.own_runs[precision]),
                         **report.difference(subject.predicted(), truth)})
        return rows


def measure_scaling(arguments, folder):
    """The first precision with one thread and with all, in turn."""
    subjects = [Mezzotint(arguments, folder, arguments.precisions[0], threads)
                for threads in sorted({1, arguments.threads})]
    runs = [[] for _ in subjects]
    for _ in range(arguments.rounds):
        for subject, own in zip(subjects, runs):
            own.append(subject.run())
    rows = [{"threads": subject.threads, **report.timing(own)}
            for subject, own in zip(subjects, runs)]
    for row in rows:
        row["speedup"] = rows[0]["median_seconds"] / row["median_seconds"]
    return rows


def measure_volume(arguments, folder):
    command = [str(arguments.mezzotint), "generate", "--model", str(folder / "weights.safetensors"),
               "--mask", str(MASK), "--size", arguments.size, "--timesteps", str(TIMESTEPS),
               "--steps", str(STEPS), "--precision", arguments.precisions[0],
               "--threads", str(arguments.threads), "--out", str(folder / "volume.nii.gz"),
               "--overwrite", "--json"]
    start = time.perf_counter()
    lines = call(command, arguments.threads).splitlines()
    return {"steps": STEPS, "seconds": time.perf_counter() - start,
            "peak_bytes": json.loads(lines[-1])["peak_bytes"]}


def measure(arguments, folder):
    result = {
        "machine": machine.describe(), "versions": machine.versions(arguments.mezzotint),
        "arch": arguments.arch, "size": arguments.sides, "threads": arguments.threads,
        "rounds": arguments.rounds, "blocks": arguments.blocks,
        "precisions": arguments.precisions,
    }
    bench = Bench(arguments, folder)
    blocks = [[key] for key in arguments.peers] if arguments.blocks and arguments.peers \
        else [arguments.peers]
    for keys in blocks:
        bench.measure(keys)
    truth, result["truth"], reason = bench.predict_truth()
    if reason:
        result["no_truth_because"] = reason
    result["isa"] = bench.ours[arguments.precisions[0]].isa
    result["rows"] = bench.finish(truth)
    result["best"] = report.hardest(result["rows"])
    if arguments.scaling:
        say("scaling")
        result["scaling"] = measure_scaling(arguments, folder)
    if arguments.volume:
        say("generating a volume")
        result["volume"] = measure_volume(arguments, folder)
    return result


def main():
    arguments = parse_arguments()
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.keep or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        unet, inputs = published(arguments.arch), make_inputs(arguments)
        save_file(unet.state_dict(), folder / "weights.safetensors")
        save_file(inputs, folder / "inputs.safetensors")
        if arguments.dump:
            dump_activations(unet, inputs, arguments.dump)
            return
        del unet, inputs
        result = measure(arguments, folder)
    text = report.markdown(result)
    print(text)
    if arguments.markdown:
        arguments.markdown.write_text(text)
    if arguments.json:
        arguments.json.write_text(json.dumps(result, indent=2) + "\n")


if __name__ == "__main__":
    main()
