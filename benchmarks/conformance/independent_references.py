# SPDX-License-Identifier: Apache-2.0
"""What the kernels of `independent.toml` should compute, written from the operators' definitions.

A function gets the inputs in order as torch tensors and the attributes by name; it returns the
outputs in order. Arithmetic is done in float32 at least and rounded once by the caller.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch.nn import functional as nnf

Tensor = torch.Tensor


def _f(x: Tensor) -> Tensor:
    return x.float() if x.is_floating_point() else x


# Element by element


def mat_mul_sub(a: Tensor, b: Tensor, c: Tensor) -> Tensor:
    return _f(a) @ _f(b) - _f(c)


def sinh(x: Tensor) -> Tensor:
    return torch.sinh(_f(x))


def asinh(x: Tensor) -> Tensor:
    return torch.asinh(_f(x))


def asinh_grad(y: Tensor, dy: Tensor) -> Tensor:
    return _f(dy) / torch.cosh(_f(y))


def divide(a: Tensor, b: Tensor) -> Tensor:
    if a.is_floating_point():
        return _f(a) / _f(b)
    return torch.div(a, b, rounding_mode="trunc")


def not_equal(a: Tensor, b: Tensor) -> Tensor:
    return a != b


def less_equal(a: Tensor, b: Tensor) -> Tensor:
    return (a <= b).to(torch.uint8)


def is_close(
    a: Tensor, b: Tensor, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False
) -> Tensor:
    return torch.isclose(_f(a), _f(b), rtol, atol, equal_nan)


def xlogy(a: Tensor, b: Tensor) -> Tensor:
    return torch.xlogy(_f(a), _f(b))


def lerp(start: Tensor, end: Tensor, weight: Tensor) -> Tensor:
    return torch.lerp(_f(start), _f(end), _f(weight))


def gelu(x: Tensor) -> Tensor:
    return nnf.gelu(_f(x))


def gelu_tanh(x: Tensor) -> Tensor:
    return nnf.gelu(_f(x), approximate="tanh")


def fast_gelu(x: Tensor) -> Tensor:
    x = _f(x)
    return x / (1 + torch.exp(-1.702 * x.abs())) * torch.exp(0.851 * (x - x.abs()))


def fast_gelu_grad(dy: Tensor, x: Tensor) -> Tensor:
    x = _f(x)
    down = torch.exp(-1.702 * x.abs())
    grown = torch.exp(1.702 * (x - x.abs()))
    return _f(dy) * (down + 1.702 * x * down + grown) / (down + 1) ** 2


def clip(x: Tensor, low: Tensor, high: Tensor) -> Tensor:
    return torch.minimum(torch.maximum(x, low), high)


def addcmul(value: Tensor, data: Tensor, a: Tensor, b: Tensor) -> Tensor:
    return _f(data) + _f(a) * _f(b) * _f(value)


def select(condition: Tensor, a: Tensor, b: Tensor) -> Tensor:
    return torch.where(condition, a, b)


def gcd(a: Tensor, b: Tensor) -> Tensor:
    return torch.gcd(a, b)


def fmax(a: Tensor, b: Tensor) -> Tensor:
    return a | b if a.dtype == torch.bool else torch.fmax(a, b)


def relu(x: Tensor) -> Tensor:
    return nnf.relu(x)


def leaky_relu(x: Tensor) -> Tensor:
    return nnf.leaky_relu(x, 0.01)


def tanh(x: Tensor) -> Tensor:
    return torch.tanh(x)


def sigmoid(x: Tensor) -> Tensor:
    return torch.sigmoid(x)


def swish(x: Tensor) -> Tensor:
    return nnf.silu(x)


def selu(x: Tensor) -> Tensor:
    return nnf.selu(x)


def elu(x: Tensor) -> Tensor:
    return nnf.elu(x)


def hard_sigmoid(x: Tensor) -> Tensor:
    return nnf.hardsigmoid(x)


def hard_tanh(x: Tensor) -> Tensor:
    return nnf.hardtanh(x)


def softplus(x: Tensor) -> Tensor:
    return nnf.softplus(x)


def softsign(x: Tensor) -> Tensor:
    return nnf.softsign(x)


def mish_tanh(x: Tensor) -> Tensor:
    return torch.tanh(nnf.mish(x))


def scaled(a: Tensor, s: Tensor) -> Tensor:
    return a * s


# Losses


def mse_loss(a: Tensor, b: Tensor, reduction: str = "mean") -> Tensor:
    return nnf.mse_loss(_f(a), _f(b), reduction=reduction)


def mse_loss_grad(predict: Tensor, label: Tensor, dout: Tensor, reduction: str = "mean") -> Tensor:
    scale = predict.numel() if reduction == "mean" else 1
    return 2 * (_f(predict) - _f(label)) * _f(dout) / scale


def nll_loss(
    x: Tensor, target: Tensor, weight: Tensor, reduction: str = "mean", ignore_index: int = -100
) -> Tensor:
    return nnf.nll_loss(x, target.long(), weight, reduction=reduction, ignore_index=ignore_index)


def cross_entropy(predict: Tensor, target: Tensor) -> Tensor:
    return nnf.cross_entropy(predict, target.long())


def triplet_margin(anchor: Tensor, positive: Tensor, negative: Tensor, margin: Tensor) -> Tensor:
    return nnf.triplet_margin_loss(anchor, positive, negative, margin=float(margin))


# Reductions and normalisation


def softmax(x: Tensor, dim: int = -1) -> Tensor:
    return nnf.softmax(_f(x), dim)


def log_softmax(x: Tensor, dim: int = -1) -> Tensor:
    return nnf.log_softmax(_f(x), dim)


def log_sum_exp(x: Tensor, dim: Sequence[int] = (0,), keep_dim: bool = False) -> Tensor:
    return torch.logsumexp(_f(x), tuple(dim), keep_dim)


def sum_rows(x: Tensor) -> Tensor:
    return _f(x).sum(-1)


def sum_axes(x: Tensor, axes: Tensor, keep_dims: bool = False, **_: object) -> Tensor:
    return _f(x).sum(tuple(int(axis) for axis in axes), keepdim=keep_dims)


def lp_norm(
    x: Tensor,
    p: float = 2.0,
    axes: Sequence[int] = (),
    keepdim: bool = False,
    epsilon: float = 1e-12,
) -> Tensor:
    dims = tuple(axes) or tuple(range(x.dim()))
    return _f(x).abs().pow(p).sum(dims, keepdim).pow(1 / p).clamp_min(epsilon)


def arg_max_with_value(x: Tensor, dimension: int, keep_dims: bool = False) -> tuple[Tensor, Tensor]:
    values, indices = x.max(dimension, keepdim=keep_dims)
    return indices.int(), values


def global_average(x: Tensor) -> Tensor:
    return _f(x).mean(tuple(range(2, x.dim())), keepdim=True)


def layer_norm(x: Tensor, gamma: Tensor, beta: Tensor, epsilon: float = 1e-5) -> Tensor:
    return nnf.layer_norm(x, x.shape[-1:], gamma, beta, epsilon)


def fused_add_rms_norm(
    x: Tensor, residual: Tensor, weight: Tensor, eps: float = 1e-6, **_: object
) -> tuple[Tensor, Tensor]:
    added = (_f(x) + _f(residual)).half()
    wide = added.float()
    rms = torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + eps)
    return wide * rms * _f(weight), added


def rms_norm_with_scale(x: Tensor, gamma: Tensor) -> tuple[Tensor, Tensor]:
    inverse = torch.rsqrt(x.pow(2).mean(-1) + 1e-6)
    return x * inverse[:, None] * gamma, inverse


def cumsum(x: Tensor, axis: Tensor, exclusive: bool = False, reverse: bool = False) -> Tensor:
    dim = int(axis)
    wide = _f(x).flip(dim) if reverse else _f(x)
    total = wide.cumsum(dim) - (wide if exclusive else 0)
    return total.flip(dim) if reverse else total


def histogram(x: Tensor, bins: int = 100, **limits: Any) -> Tensor:
    return torch.histc(_f(x).float(), bins, **limits)


# Moves


def replication_pad(x: Tensor, paddings: Tensor) -> Tensor:
    left, right, top, bottom = (int(size) for size in paddings)
    lead = x if x.dim() == 4 else x[None]
    padded = nnf.pad(_f(lead), (left, right, top, bottom), mode="replicate")
    return padded.reshape(*x.shape[:-2], *padded.shape[-2:])


def tril(x: Tensor, diagonal: int = 0) -> Tensor:
    return torch.tril(x, diagonal)


def triu(x: Tensor, diagonal: int = 0) -> Tensor:
    return torch.triu(x, diagonal)


def as_strided(x: Tensor, size: Tensor, stride: Tensor, offset: Tensor) -> Tensor:
    return torch.as_strided(x, size.tolist(), stride.tolist(), int(offset))


def depth_to_space(
    x: Tensor, block_size: int, mode: str = "DCR", data_format: str = "NHWC"
) -> Tensor:
    wide = x if data_format == "NCHW" else x.permute(0, 3, 1, 2)
    batch, channels, height, width = wide.shape
    depth = channels // block_size**2
    if mode == "DCR":
        parts = wide.reshape(batch, block_size, block_size, depth, height, width)
        moved = parts.permute(0, 3, 4, 1, 5, 2)
    else:
        parts = wide.reshape(batch, depth, block_size, block_size, height, width)
        moved = parts.permute(0, 1, 4, 2, 5, 3)
    made = moved.reshape(batch, depth, height * block_size, width * block_size)
    return made if data_format == "NCHW" else made.permute(0, 2, 3, 1).contiguous()


def scatter_elements(
    var: Tensor, indices: Tensor, updates: Tensor, axis: int = 0, reduce: str = "None"
) -> Tensor:
    kinds = {"add": "sum", "multiply": "prod"}
    index = indices.long()
    if reduce in kinds:
        return var.scatter_reduce(axis, index, updates, kinds[reduce])
    return var.scatter(axis, index, updates)


def scatter_elements_in_place(
    var: Tensor, indices: Tensor, updates: Tensor, axis: int = 0, reduce: str = "None"
) -> tuple[Tensor, Tensor, Tensor]:
    return scatter_elements(var, indices, updates, axis, reduce), indices, updates


def scatter_sub(x: Tensor, index: Tensor, update: Tensor, **_: object) -> Tensor:
    return x.index_add(0, index.reshape(-1).long(), -update.reshape(-1, *x.shape[1:]))


def scatter_sub_in_place(
    x: Tensor, index: Tensor, update: Tensor, **_: object
) -> tuple[Tensor, Tensor, Tensor]:
    return scatter_sub(x, index, update), index, update


def scatter_max(x: Tensor, index: Tensor, update: Tensor, **_: object) -> Tensor:
    rows = update.reshape(-1, *x.shape[1:])
    return x.index_reduce(0, index.reshape(-1).long(), rows, "amax")


# Geometry


def pdist(x: Tensor, p: float = 2.0) -> Tensor:
    return nnf.pdist(_f(x), p)


def pdist_grad(grad: Tensor, data: Tensor, distances: Tensor, p: float) -> Tensor:
    # `distances` are those of the points, as the kernel's caller has them from the forward pass.
    rows, columns = torch.triu_indices(len(data), len(data), 1)
    apart = data[rows] - data[columns]
    each = grad[:, None] * apart.sign() * apart.abs() ** (p - 1) / distances[:, None] ** (p - 1)
    return torch.zeros_like(data).index_add(0, rows, each).index_add(0, columns, -each)


def ball_query(
    xyz: Tensor, centers: Tensor, min_radius: float, max_radius: float, sample_num: int
) -> Tensor:
    found = torch.zeros(*centers.shape[:2], sample_num, dtype=torch.int32)
    squares = (_f(centers)[:, :, None] - _f(xyz)[:, None]).pow(2).sum(-1)
    inside = (squares == 0) | ((squares >= min_radius**2) & (squares < max_radius**2))
    for batch in range(centers.shape[0]):
        for center in range(centers.shape[1]):
            hits = torch.nonzero(inside[batch, center]).flatten()[:sample_num].int()
            if len(hits):
                found[batch, center] = hits[0]
                found[batch, center, : len(hits)] = hits
    return found


def three_nearest(a: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
    squares = (a[:, :, None] - b[:, None]).pow(2).sum(-1)
    values, indices = squares.topk(3, largest=False, sorted=True)
    return values, indices.int()


def spence(x: Tensor) -> Tensor:
    """The integral of log(t) / (1 - t) from 1 to x, by the midpoint rule in double precision."""
    steps = 20000
    points = (torch.arange(steps, dtype=torch.float64) + 0.5) / steps
    flat = x.double().reshape(-1, 1)
    at = 1 + (flat - 1) * points
    whole = ((flat - 1) / steps * torch.log(at) / (1 - at)).sum(1)
    return whole.reshape(x.shape)


# Attention


def attention(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return torch.softmax(q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1]), -1) @ v


def attention_scaled(q: Tensor, k: Tensor, v: Tensor, scale: Tensor) -> Tensor:
    return torch.softmax(q @ k.transpose(-1, -2) * scale, -1) @ v


# Gates over channels and places of an image


def _gate(x: Tensor, channels: Tensor) -> Tensor:
    return x * channels.reshape(*channels.shape[:2], 1, 1)


def gated_channels(
    x: Tensor, alpha: Tensor, gamma: Tensor, beta: Tensor, epsilon: Tensor
) -> Tensor:
    embedded = torch.sqrt(x.pow(2).sum((2, 3)) + epsilon) * alpha
    norm = gamma / torch.sqrt(embedded.pow(2).mean(1, keepdim=True) + epsilon)
    return _gate(x, 1 + torch.tanh(embedded * norm + beta))


def spatial_group_enhance(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    groups = weight.shape[1]
    parts = x.reshape(x.shape[0] * groups, -1, *x.shape[2:])
    seen = (parts * parts.mean((2, 3), keepdim=True)).sum(1).flatten(1)
    normal = (seen - seen.mean(1, keepdim=True)) / (seen.std(1, keepdim=True) + 1e-5)
    normal = normal.reshape(x.shape[0], groups, *x.shape[2:]) * weight + bias
    gated = parts * torch.sigmoid(normal.reshape(len(parts), 1, *x.shape[2:]))
    return gated.reshape(x.shape)


def product3(a: Tensor, b: Tensor, c: Tensor) -> Tensor:
    return a * b * c


def gated_sum(x: Tensor, a: Tensor, b: Tensor, gamma: Tensor) -> Tensor:
    return gamma * (a + b) + x


def residual_score(x: Tensor, la: Tensor) -> Tensor:
    flat = x.flatten(2)
    return flat.mean(2) + la * flat.amax(2)


def mean3(a: Tensor, b: Tensor, c: Tensor) -> Tensor:
    return (a + b + c) / 3


def silu_of_sum(a: Tensor, b: Tensor, c: Tensor) -> Tensor:
    return nnf.silu(a + b + c)


def split_attention(weights: Tensor, x: Tensor) -> Tensor:
    return (weights[:, :, None, None] * x).sum(1)


# Norms, pools and scans of whole networks


def instance_norm(x: Tensor) -> Tensor:
    return nnf.instance_norm(x)


def whole_layer_norm(x: Tensor) -> Tensor:
    return nnf.layer_norm(x, x.shape[1:])


def channel_rms_norm(x: Tensor) -> Tensor:
    return x / torch.sqrt(x.pow(2).mean(1, keepdim=True) + 1e-5)


def l2_normalize(x: Tensor) -> Tensor:
    return x / x.pow(2).sum(1, keepdim=True).sqrt()


def frobenius_normalize(x: Tensor) -> Tensor:
    return x / x.pow(2).sum().sqrt()


def average_pool_1d(x: Tensor) -> Tensor:
    return nnf.avg_pool1d(x, 8, 1, 4)


def average_pool_2d(x: Tensor) -> Tensor:
    return nnf.avg_pool2d(x, 11)


def average_pool_3d(x: Tensor) -> Tensor:
    return nnf.avg_pool3d(x, 3, 2, 1)


def max_pool_1d(x: Tensor) -> Tensor:
    return nnf.max_pool1d(x, 8, 1, 4)


def max_pool_2d(x: Tensor) -> Tensor:
    return nnf.max_pool2d(x, 4, 1, 1)


def max_pool_3d(x: Tensor) -> Tensor:
    return nnf.max_pool3d(x, 3, 2, 1)


def cumsum_rows(x: Tensor) -> Tensor:
    return x.cumsum(1)


def cumsum_reverse_rows(x: Tensor) -> Tensor:
    return x.flip(1).cumsum(1).flip(1)


def cumprod_rows(x: Tensor) -> Tensor:
    return x.cumprod(1)


def masked_cumsum(x: Tensor, mask: Tensor) -> Tensor:
    return (x * mask).cumsum(1)


def sum_middle(x: Tensor) -> Tensor:
    return x.sum(1, keepdim=True)


# The rest of an operator library


def exponential(x: Tensor, **_: object) -> Tensor:
    return torch.exp(_f(x))


def logarithm(x: Tensor, **_: object) -> Tensor:
    return torch.log(_f(x))


def absolute(x: Tensor) -> Tensor:
    return x.abs()


def negative(x: Tensor) -> Tensor:
    return -x


def truncated(x: Tensor) -> Tensor:
    return torch.trunc(x)


def cosine(x: Tensor) -> Tensor:
    return torch.cos(_f(x))


def sine(x: Tensor) -> Tensor:
    return torch.sin(_f(x))


def rsqrt(x: Tensor) -> Tensor:
    return torch.rsqrt(_f(x))


def square_root(x: Tensor) -> Tensor:
    return torch.sqrt(_f(x))


def reciprocal(x: Tensor) -> Tensor:
    return torch.reciprocal(_f(x))


def swish_scaled(x: Tensor, scale: float = 1.0) -> Tensor:
    return _f(x) * torch.sigmoid(scale * _f(x))


def addcdiv(data: Tensor, a: Tensor, b: Tensor, value: Tensor) -> Tensor:
    return _f(data) + _f(a) / _f(b) * _f(value)


def addcmul_last(data: Tensor, a: Tensor, b: Tensor, value: Tensor) -> Tensor:
    return addcmul(value, data, a, b)


def greater(a: Tensor, b: Tensor) -> Tensor:
    return a > b


def greater_equal(a: Tensor, b: Tensor) -> Tensor:
    return a >= b


def less(a: Tensor, b: Tensor) -> Tensor:
    return a < b


def less_equal_bool(a: Tensor, b: Tensor) -> Tensor:
    return a <= b


def equal(a: Tensor, b: Tensor) -> Tensor:
    return a == b


def logical_not(x: Tensor) -> Tensor:
    return ~x


def logical_or(a: Tensor, b: Tensor) -> Tensor:
    return a | b


def heaviside(x: Tensor, values: Tensor) -> Tensor:
    return torch.heaviside(_f(x), _f(values))


def cross(a: Tensor, b: Tensor, dim: int) -> Tensor:
    return torch.cross(a, b, dim=dim)
