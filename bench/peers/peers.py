"""Times PyTorch and mezzotint bench in turn on one network, and compares what they predict."""

import argparse
import copy
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy
import torch
from safetensors.torch import load_file, save_file

from unet import PUBLISHED, published

ROOT = Path(__file__).resolve().parents[2]


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mezzotint", type=Path, default=ROOT / "build/release/bin/mezzotint")
    parser.add_argument("--arch", default="whole-head:64", help="whole-head or brats, :base")
    parser.add_argument("--size", default="64", help="64, or 64x48x32 for x, y, z")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--compile", action="store_true", help="also time torch.compile")
    parser.add_argument("--truth", action="store_true", help="also evaluate in float64")
    parser.add_argument("--json", type=Path, help="write the numbers here, too")
    parser.add_argument("--dump", type=Path,
                        help="write PyTorch's activations for mezzotint bench --diff, and stop")
    parser.add_argument("--keep", type=Path, help="folder for the weights and inputs")
    arguments = parser.parse_args()
    if arguments.arch.partition(":")[0] not in PUBLISHED:
        parser.error(f"--arch: {arguments.arch} is none of {', '.join(PUBLISHED)}")
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


def processor():
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.processor()


class TorchVariant:
    def __init__(self, name, unet, inputs, channels_last=False, compiled=False):
        self.name = name
        layout = torch.channels_last_3d if channels_last else torch.contiguous_format
        module = copy.deepcopy(unet).to(memory_format=layout)
        self.evaluate = torch.compile(module) if compiled else module
        self.inputs = [inputs["x"].contiguous(memory_format=layout),
                       inputs["condition"].contiguous(memory_format=layout), inputs["t"]]
        self.seconds = []

    @torch.inference_mode()
    def run(self):
        start = time.perf_counter()
        result = self.evaluate(*self.inputs)
        return time.perf_counter() - start, result.contiguous()


class Mezzotint:
    name = "mezzotint"

    def __init__(self, arguments, folder):
        self.command = [
            str(arguments.mezzotint), "bench", "--model", str(folder / "weights.safetensors"),
            "--input", str(folder / "inputs.safetensors"), "--size", arguments.size,
            "--threads", str(arguments.threads)]
        self.output = folder / "eps.safetensors"
        self.seconds = []
        self.report = {}

    def call(self, *words):
        done = subprocess.run(self.command + list(words), capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"{' '.join(self.command)}: {done.stderr.strip()}")
        return done.stdout

    def run(self):
        self.report = json.loads(self.call("--no-check", "--runs", "1", "--json"))
        return self.report["median_seconds"]

    def predict(self):
        self.call("--dump", "eps", "--out", str(self.output), "--overwrite")
        return load_file(self.output)["eps"]


def difference(values, truth):
    error = values.double() - truth.double()
    return {"relative_l2": (error.norm() / truth.double().norm()).item(),
            "max_error": error.abs().max().item()}


def spread(seconds):
    """(90th - 10th percentile) / median, by nearest rank, as mezzotint bench has it."""
    ends = numpy.quantile(seconds, [0.1, 0.9], method="inverted_cdf")
    return float(ends[1] - ends[0]) / statistics.median(seconds)


def dump_activations(unet, inputs, path):
    """Under the modules' names; the metadata say in which order they ran."""
    activations = dict(inputs)
    order = []

    def record(name):
        def hook(_module, _inputs, output):
            order.append(name)
            activations[name] = output.detach().clone().contiguous()
        return hook

    for name, module in unet.named_modules():
        if name:
            module.register_forward_hook(record(name))
    with torch.inference_mode():
        activations["eps"] = unet(inputs["x"], inputs["condition"], inputs["t"])
    order.append("eps")
    save_file({name: tensor.contiguous() for name, tensor in activations.items()}, path,
              metadata={"order": " ".join(order)})


def measure(arguments, unet, inputs, folder):
    variants = [TorchVariant("PyTorch, contiguous", unet, inputs),
                TorchVariant("PyTorch, channels_last_3d", unet, inputs, channels_last=True)]
    if arguments.compile:
        variants.append(TorchVariant("PyTorch, contiguous, compiled", unet, inputs, compiled=True))
        variants.append(TorchVariant("PyTorch, channels_last_3d, compiled", unet, inputs,
                                     channels_last=True, compiled=True))
    ours = Mezzotint(arguments, folder)
    outputs = {variant.name: variant.run()[1] for variant in variants}  # and warm up
    outputs[ours.name] = ours.predict()
    for _ in range(arguments.rounds):
        for variant in variants:
            variant.seconds.append(variant.run()[0])
        ours.seconds.append(ours.run())

    truth_name = variants[0].name
    truth = outputs[truth_name]
    if arguments.truth:
        truth_name = "float64"
        with torch.inference_mode():
            truth = unet.double()(*(inputs[name].double() for name in ("x", "condition", "t")))
    best = min(variants, key=lambda variant: statistics.median(variant.seconds))
    best_seconds = statistics.median(best.seconds)
    rows = [{"name": subject.name, "median_seconds": statistics.median(subject.seconds),
             "spread": spread(subject.seconds),
             "speed": best_seconds / statistics.median(subject.seconds),
             **difference(outputs[subject.name], truth)} for subject in [*variants, ours]]
    return {
        "processor": processor(), "threads": arguments.threads, "isa": ours.report["isa"],
        "arch": arguments.arch, "size": arguments.sides, "rounds": arguments.rounds,
        "versions": {"torch": torch.__version__, "python": platform.python_version()},
        "truth": truth_name, "best_peer": best.name, "peak_bytes": ours.report["peak_bytes"],
        "speed": best_seconds / statistics.median(ours.seconds), "rows": rows,
    }


def print_markdown(result):
    size = "x".join(str(side) for side in result["size"])
    print(f"One evaluation of {result['arch']} at {size}, fp32: {result['processor']}, "
          f"{result['threads']} threads; torch {result['versions']['torch']}; median of "
          f"{result['rounds']} rounds, in turn; errors against {result['truth']}.\n")
    print("| | seconds | spread | times the best PyTorch's speed | relative L2 | max error |")
    print("|---|---|---|---|---|---|")
    for row in result["rows"]:
        print(f"| {row['name']} | {row['median_seconds']:.3f} | {100 * row['spread']:.1f} % | "
              f"{row['speed']:.2f} | {row['relative_l2']:.1e} | {row['max_error']:.1e} |")


def main():
    arguments = parse_arguments()
    torch.set_num_threads(arguments.threads)
    unet = published(arguments.arch)
    inputs = make_inputs(arguments)
    if arguments.dump and not arguments.keep:
        sys.exit("peers.py: --dump needs --keep, the folder for the weights that it belongs to")
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.keep or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        save_file(unet.state_dict(), folder / "weights.safetensors")
        save_file(inputs, folder / "inputs.safetensors")
        if arguments.dump:
            dump_activations(unet, inputs, arguments.dump)
            return
        result = measure(arguments, unet, inputs, folder)
    print_markdown(result)
    if arguments.json:
        arguments.json.write_text(json.dumps(result, indent=2) + "\n")


if __name__ == "__main__":
    main()
