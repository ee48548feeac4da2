"""The same loss in PyTorch with complex tensors; the gradient is autograd's."""
from common import best_time, main, row


def rows(folder):
    import torch
    from hqmm_work import SHAPES, Work

    torch.set_num_threads(1)

    def loss_and_gradient(operators, initial, symbols):
        operators = operators.clone().requires_grad_(True)
        state = initial.expand(symbols.shape[0], *initial.shape)
        loss = 0.0
        for t in range(symbols.shape[1]):
            k = operators[symbols[:, t]]
            state = (k @ state[:, None] @ k.conj().transpose(-1, -2)).sum(dim=1)
            weight = torch.diagonal(state, dim1=-2, dim2=-1).real.sum(dim=-1)
            loss = loss - torch.log(weight).sum()
            state = state / weight[:, None, None]
        loss.backward()
        return loss.item(), operators.grad.numpy()

    for n, w in SHAPES:
        work = Work(folder, n, w, 20)
        arguments = [torch.from_numpy(x) for x in (work.operators, work.initial, work.sequences)]
        version = torch.__version__.split("+")[0]
        yield row(
            f"PyTorch {version}, complex autograd",
            work.case,
            work.error(*loss_and_gradient(*arguments)),
            lambda: best_time(lambda: loss_and_gradient(*arguments)),
        )


if __name__ == "__main__":
    main("PyTorch", ["numpy", "torch"], rows)
