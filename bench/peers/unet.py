"""The Med-DDPM UNet in PyTorch, with the module names of its checkpoints."""

import math

import torch
from torch import nn
from torch.nn import functional

GROUPS = 32
EPS = 1e-5
MAX_PERIOD = 1000


def norm(channels):
    return nn.GroupNorm(GROUPS, channels, eps=EPS)


def time_features(t, width):
    half = width // 2
    frequencies = torch.exp(-math.log(MAX_PERIOD) * torch.arange(half, dtype=t.dtype) / half)
    angles = t[:, None] * frequencies[None]
    features = torch.cat([angles.cos(), angles.sin()], dim=1)
    return functional.pad(features, (0, width % 2))


class ResBlock(nn.Module):
    def __init__(self, channels, out_channels, time_width):
        super().__init__()
        self.in_layers = nn.Sequential(
            norm(channels), nn.SiLU(), nn.Conv3d(channels, out_channels, 3, padding=1))
        self.emb_layers = nn.Sequential(nn.SiLU(), nn.Linear(time_width, out_channels))
        self.out_layers = nn.Sequential(
            norm(out_channels), nn.SiLU(), nn.Identity(),
            nn.Conv3d(out_channels, out_channels, 3, padding=1))
        self.skip_connection = (nn.Identity() if channels == out_channels
                                else nn.Conv3d(channels, out_channels, 1))

    def forward(self, x, time):
        h = self.in_layers(x)
        h = h + self.emb_layers(time)[:, :, None, None, None]
        return self.skip_connection(x) + self.out_layers(h)


class Attention(nn.Module):
    """One head over all positions."""

    def __init__(self, channels):
        super().__init__()
        self.norm = norm(channels)
        self.qkv = nn.Conv1d(channels, 3 * channels, 1)
        self.proj_out = nn.Conv1d(channels, channels, 1)

    def forward(self, x, _time):
        flat = x.flatten(2)
        q, k, v = self.qkv(self.norm(flat)).transpose(1, 2).chunk(3, dim=2)
        h = functional.scaled_dot_product_attention(q[:, None], k[:, None], v[:, None])[:, 0]
        return x + self.proj_out(h.transpose(1, 2)).view_as(x)


class Downsample(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.op = nn.Conv3d(channels, channels, 3, stride=2, padding=1)

    def forward(self, x, _time):
        return self.op(x)


class Upsample(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.conv = nn.Conv3d(channels, channels, 3, padding=1)

    def forward(self, x, _time):
        return self.conv(functional.interpolate(
            x, scale_factor=2, mode="trilinear", align_corners=False))


class Entry(nn.Conv3d):
    def forward(self, x, _time):
        return super().forward(x)


class Stage(nn.ModuleList):
    def forward(self, x, time):
        for module in self:
            x = module(x, time)
        return x


class Unet(nn.Module):
    """`multipliers` of `base` channels per level; `attention` lists levels besides the middle."""

    def __init__(self, image_channels, condition_channels, base, multipliers, res_blocks,
                 attention):
        super().__init__()
        self.base = base
        width = 4 * base
        self.time_embed = nn.Sequential(nn.Linear(base, width), nn.SiLU(), nn.Linear(width, width))

        def block(channels, out_channels, level):
            modules = [ResBlock(channels, out_channels, width)]
            if level in attention:
                modules.append(Attention(out_channels))
            return modules

        channels = base
        self.input_blocks = nn.ModuleList(
            [Stage([Entry(image_channels + condition_channels, base, 3, padding=1)])])
        skips = [channels]
        for level, multiplier in enumerate(multipliers):
            for _ in range(res_blocks):
                self.input_blocks.append(Stage(block(channels, base * multiplier, level)))
                channels = base * multiplier
                skips.append(channels)
            if level + 1 < len(multipliers):
                self.input_blocks.append(Stage([Downsample(channels)]))
                skips.append(channels)

        self.middle_block = Stage([ResBlock(channels, channels, width), Attention(channels),
                                   ResBlock(channels, channels, width)])

        self.output_blocks = nn.ModuleList()
        for level, multiplier in reversed(list(enumerate(multipliers))):
            for i in range(res_blocks + 1):
                modules = block(channels + skips.pop(), base * multiplier, level)
                channels = base * multiplier
                if level > 0 and i == res_blocks:
                    modules.append(Upsample(channels))
                self.output_blocks.append(Stage(modules))

        self.out = nn.Sequential(
            norm(channels), nn.SiLU(), nn.Conv3d(channels, image_channels, 3, padding=1))

    def forward(self, x, condition, t):
        time = self.time_embed(time_features(t, self.base))
        h = torch.cat([x, condition], dim=1)
        skips = []
        for stage in self.input_blocks:
            h = stage(h, time)
            skips.append(h)
        h = self.middle_block(h, time)
        for stage in self.output_blocks:
            h = stage(torch.cat([h, skips.pop()], dim=1), time)
        return self.out(h)


PUBLISHED = {
    "whole-head": {"image_channels": 1, "condition_channels": 2, "multipliers": (1, 1, 2, 3, 4),
                   "res_blocks": 1, "attention": (3,)},
    "brats": {"image_channels": 4, "condition_channels": 4, "multipliers": (1, 1, 2, 3, 4),
              "res_blocks": 2, "attention": ()},
}


def published(arch, seed=0):
    """`arch` as in mezzotint bench --arch: "whole-head:64". Norms are not left at 1 and 0."""
    recipe, _, base = arch.partition(":")
    torch.manual_seed(seed)
    unet = Unet(base=int(base or 64), **PUBLISHED[recipe]).eval()
    with torch.no_grad():
        for module in unet.modules():
            if isinstance(module, nn.GroupNorm):
                module.weight += 0.1 * torch.randn_like(module.weight)
                module.bias += 0.1 * torch.randn_like(module.bias)
    return unet
