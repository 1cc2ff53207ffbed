from torch._functorch.partitioners import default_partition as partition  # noqa: F401
