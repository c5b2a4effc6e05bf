"""OpenVINO on CPU. It chooses layouts itself.

Run as a program, it converts the network from PyTorch and saves it: the process that is timed never
loads PyTorch, whose memory would count as OpenVINO's.
"""

import subprocess
import sys
from pathlib import Path

import openvino
from safetensors.numpy import load_file


def convert(arch, folder):
    import torch

    from torch_peer import load
    unet, inputs = load(arch, folder)
    with torch.no_grad():
        program = torch.export.export(unet, tuple(inputs))
    model = openvino.convert_model(program, input=[tuple(value.shape) for value in inputs])
    openvino.save_model(model, folder / "openvino.xml", compress_to_fp16=False)


def prepare(arch, folder, threads):
    done = subprocess.run([sys.executable, __file__, arch, str(folder)], stderr=subprocess.PIPE,
                          text=True)
    if done.returncode != 0:
        lines = done.stderr.strip().splitlines()
        raise RuntimeError(f"converting: {lines[-1] if lines else done.returncode}")
    compiled = openvino.Core().compile_model(folder / "openvino.xml", "CPU", {
        "INFERENCE_PRECISION_HINT": "f32", "EXECUTION_MODE_HINT": "ACCURACY",
        "PERFORMANCE_HINT": "LATENCY", "NUM_STREAMS": 1, "INFERENCE_NUM_THREADS": threads})
    inputs = load_file(folder / "inputs.safetensors")
    request = compiled.create_infer_request()
    values = [inputs[name] for name in ("x", "condition", "t")]

    def evaluate():
        return request.infer(values, share_inputs=True)[0]

    return evaluate


if __name__ == "__main__":
    convert(sys.argv[1], Path(sys.argv[2]))
