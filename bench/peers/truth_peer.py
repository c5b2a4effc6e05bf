"""The network in float64, against which errors are measured."""

import torch
from torch.nn import functional
from torch.overrides import TorchFunctionMode

from torch_peer import load

SLAB_BYTES = 256 << 20


class SlabConvolutions(TorchFunctionMode):
    """Convolves a few planes at a time: in float64 PyTorch unfolds its input, 27 values for one."""

    def __torch_function__(self, function, types, args=(), kwargs=None):
        if function is not torch.conv3d:
            return function(*args, **(kwargs or {}))
        return self.convolve(*args)

    @staticmethod
    def convolve(x, weight, bias, stride, padding, *rest):
        kernel = weight.shape[2]
        depth = (x.shape[2] + 2 * padding[0] - kernel) // stride[0] + 1
        plane = weight[0].numel() * x.shape[3] * x.shape[4] // (stride[1] * stride[2])
        planes = max(1, SLAB_BYTES // (plane * x.element_size()))
        outputs = []
        for first in range(0, depth, planes):
            last = min(depth, first + planes) - 1
            begin = first * stride[0] - padding[0]
            end = last * stride[0] - padding[0] + kernel
            slab = functional.pad(x[:, :, max(begin, 0):end],
                                  (0, 0, 0, 0, max(-begin, 0), max(end - x.shape[2], 0)))
            outputs.append(torch.conv3d(slab, weight, bias, stride, (0, *padding[1:]), *rest))
        return torch.cat(outputs, dim=2)


def prepare(arch, folder, threads):
    torch.set_num_threads(threads)
    unet, inputs = load(arch, folder)
    unet = unet.double()
    inputs = [value.double() for value in inputs]

    @torch.no_grad()
    def evaluate():
        with SlabConvolutions():
            return unet(*inputs).contiguous().numpy()

    return evaluate
