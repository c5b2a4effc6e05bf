"""Which peers there are. A peer's module has

    prepare(arch, folder, threads, **options) -> evaluate

where the folder holds weights.safetensors and inputs.safetensors, and evaluate() gives eps as a
numpy array, contiguous in N, C, D, H, W.
"""

from typing import NamedTuple


class Peer(NamedTuple):
    title: str
    program: str  # the fastest peer of a program is the one to beat
    module: str
    options: dict = {}


TRUTH = "float64"

PEERS = {
    "torch": Peer("PyTorch, contiguous", "PyTorch", "torch_peer"),
    "torch-channels-last": Peer("PyTorch, channels_last_3d", "PyTorch", "torch_peer",
                                {"channels_last": True}),
    "torch-compile": Peer("PyTorch, compiled, contiguous", "PyTorch", "torch_peer",
                          {"compiled": True}),
    "torch-compile-channels-last": Peer("PyTorch, compiled, channels_last_3d", "PyTorch",
                                        "torch_peer", {"channels_last": True, "compiled": True}),
    "openvino": Peer("OpenVINO", "OpenVINO", "openvino_peer"),
    TRUTH: Peer("PyTorch in float64", "PyTorch", "truth_peer"),
}

TIMED = [key for key in PEERS if key != TRUTH]
