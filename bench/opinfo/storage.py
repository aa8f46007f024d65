"""How a sample's tensors lie in memory: as they are, from an address that is one element further, and with gaps between elements."""
import torch

import tilec

STORAGES = ("as is", "shifted", "gaps")


def placed(theirs, storage, device):
    """A tensor of tilec with the elements of one of PyTorch."""
    theirs = theirs.detach().resolve_neg()
    if storage == "as is" or theirs.numel() == 0:
        return tilec.from_dlpack(theirs, device)
    other = torch.zeros((), dtype=theirs.dtype) if theirs.dtype == torch.bool else torch.full((), 77, dtype=theirs.dtype)
    if storage == "shifted":
        memory = torch.cat([other[None], theirs.reshape(-1)])
        return tilec.from_dlpack(memory, device)[1:].view(theirs.shape)
    memory = torch.stack([theirs.reshape(-1), other.expand(theirs.numel())], dim=-1)
    return tilec.from_dlpack(memory, device)[:, 0].view(theirs.shape)


def mapped(tree, change):
    """An argument, its tensors changed; also those in lists, tuples and dictionaries."""
    if isinstance(tree, torch.Tensor):
        return change(tree)
    if isinstance(tree, (list, tuple)) and type(tree) in (list, tuple):
        return type(tree)(mapped(one, change) for one in tree)
    if isinstance(tree, dict):
        return {name: mapped(one, change) for name, one in tree.items()}
    return tree


def tensors_in(tree):
    found = []
    mapped(tree, found.append)
    return found
