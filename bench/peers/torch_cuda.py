"""The work of hqmm_bench_cuda in PyTorch on the same GPU: the batch moves as one tensor, and autograd finds the gradient.

usage: torch_cuda.py FOLDER

Numbers are float64 and complex128. Every case is checked against our loss and gradient first; a JSON list of rows goes to
stdout: {"case", "peer", "seconds", "batch", "error"}. Where the whole batch does not fit the memory, it goes in parts.
"""
import glob
import json
import os
import sys
import time

import numpy

TOLERANCE = 1e-8
REPEATS = 5


class Case:
    def __init__(self, path):
        with open(path, encoding="utf-8") as file:
            self.row = json.load(file)
        n, w, s = (self.row[key] for key in "nws")
        self.n, self.w, self.s = n, w, s
        self.real, self.on_states = self.row["field"] == "real", self.row["emission"] == "state"
        rows = w * n if self.on_states else s * w * n
        with open(path[:-5] + ".bin", "rb") as file:
            self.stack = self.numbers(file, rows * n)
            self.emission = self.numbers(file, s * n).reshape(s, n) if self.on_states else None
            count = self.row["batch"] * self.row["length"]
            self.symbols = numpy.fromfile(file, numpy.int64, count).reshape(self.row["batch"], -1)
            self.by_stack = self.numbers(file, rows * n)
            self.by_emission = self.numbers(file, s * n) if self.on_states else None
        self.shape = (w, n, n) if self.on_states else (s, w, n, n)

    def numbers(self, file, count):
        found = numpy.fromfile(file, numpy.complex128, count)
        return found.real.copy() if self.real else found


def tangent(gamma, gradient):
    """What of a gradient lies along the manifold: the rest need not be right on our side."""
    inner = gamma.conj().T @ gradient
    return gradient - gamma @ (inner + inner.conj().T) / 2


def along_spheres(c, gradient):
    """The same for columns of norm one."""
    return gradient - c * (c * gradient).sum(axis=0)


def step(torch, state, operators, emission, symbols):
    """ρ → Σ K ρ K†, of the symbols of the batch."""
    if emission is None:
        k = operators[symbols]
        return (k @ state[:, None] @ k.mH).sum(dim=1)
    moved = (operators @ state[:, None] @ operators.mH).sum(dim=1)
    c = emission[symbols]
    return c[:, :, None] * moved * c[:, None, :]


def loss_and_gradient(torch, case, operators, emission, symbols):
    leaves = [operators.detach().requires_grad_(True)]
    if emission is not None:
        leaves.append(emission.detach().requires_grad_(True))
    state = torch.eye(case.n, dtype=operators.dtype, device="cuda").expand(len(symbols), -1, -1) / case.n
    loss = torch.zeros((), dtype=torch.float64, device="cuda")
    for t in range(symbols.shape[1]):
        state = step(torch, state, leaves[0], leaves[1] if emission is not None else None, symbols[:, t])
        weight = torch.diagonal(state, dim1=-2, dim2=-1).real.sum(dim=-1)
        loss = loss - torch.log(weight).sum()
        state = state / weight[:, None, None]
    loss.backward()
    return loss.detach(), [leaf.grad for leaf in leaves]


def in_parts(torch, case, operators, emission, symbols, parts):
    total = None
    for part in symbols.chunk(parts):
        loss, gradients = loss_and_gradient(torch, case, operators, emission, part)
        total = (loss, gradients) if total is None else (
            total[0] + loss, [a + b for a, b in zip(total[1], gradients)])
    torch.cuda.synchronize()
    return total


def fitting(torch, *arguments):
    """The fewest parts that fit the memory, and what comes of them."""
    parts = 1
    while True:
        try:
            return parts, in_parts(torch, *arguments, parts)
        except torch.cuda.OutOfMemoryError:
            torch.cuda.empty_cache()
            parts *= 2


def error_of(case, loss, gradients):
    out = abs(loss.item() / case.row["loss"] - 1.0)
    found = [gradient.cpu().numpy() for gradient in gradients]
    gamma = case.stack.reshape(-1, case.n)
    pairs = [[tangent(gamma, g.reshape(-1, case.n)) for g in (case.by_stack, found[0])]]
    if case.on_states:
        pairs.append([along_spheres(case.emission, g.reshape(-1, case.n)) for g in (case.by_emission, found[1])])
    return float(max(out, *(numpy.linalg.norm(ours - theirs) / numpy.linalg.norm(ours) for ours, theirs in pairs)))


def measure(torch, case):
    operators = torch.from_numpy(case.stack.reshape(case.shape)).cuda()
    emission = torch.from_numpy(case.emission).cuda() if case.on_states else None
    arguments = (case, operators, emission, torch.from_numpy(case.symbols).cuda())
    parts, (loss, gradients) = fitting(torch, *arguments)
    row = {"case": case.row["case"], "peer": "PyTorch " + torch.__version__.split("+")[0], "parts": parts,
           "error": error_of(case, loss, gradients)}
    if row["error"] > TOLERANCE:
        return row
    times = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        in_parts(torch, *arguments, parts)
        times.append(time.perf_counter() - start)
    row["seconds"] = sorted(times)[len(times) // 2]
    return row


def main():
    try:
        import torch
    except ImportError:
        print(json.dumps([{"missing": "PyTorch is not installed"}]))
        return
    if not torch.cuda.is_available():
        print(json.dumps([{"missing": "PyTorch sees no GPU"}]))
        return
    rows = []
    for path in sorted(glob.glob(os.path.join(sys.argv[1], "*-n*.json"))):
        rows.append(measure(torch, Case(path)))
        torch.cuda.empty_cache()
    print(json.dumps(rows))


if __name__ == "__main__":
    main()
