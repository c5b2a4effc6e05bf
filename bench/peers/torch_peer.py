"""PyTorch on CPU, eager or compiled, in either layout."""

import torch
from safetensors.torch import load_file

from unet import published


def load(arch, folder):
    """The network and x, condition, t."""
    unet = published(arch)
    unet.load_state_dict(load_file(folder / "weights.safetensors"))
    inputs = load_file(folder / "inputs.safetensors")
    return unet, [inputs[name] for name in ("x", "condition", "t")]


def prepare(arch, folder, threads, channels_last=False, compiled=False):
    torch.set_num_threads(threads)
    torch.set_float32_matmul_precision("highest")
    unet, inputs = load(arch, folder)
    layout = torch.channels_last_3d if channels_last else torch.contiguous_format
    unet = unet.to(memory_format=layout)
    inputs = [value.contiguous(memory_format=layout) if value.dim() == 5 else value
              for value in inputs]
    if compiled:
        # Weights packed for oneDNN once, without which compiling gains little on a CPU.
        torch._inductor.config.freezing = True
        unet = torch.compile(unet, fullgraph=True)

    @torch.no_grad()
    def evaluate():
        return unet(*inputs).contiguous().numpy()

    return evaluate
