"""The workloads, a file per family, in the order of the report."""

from . import frontend, elementwise, reductions, structural, products, nn, training, numerics, growth  # noqa: I001 - this is the report's order
