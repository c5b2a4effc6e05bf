"""PyTorch's activations, for mezzotint bench --diff."""

import torch
from safetensors.torch import save_file


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
