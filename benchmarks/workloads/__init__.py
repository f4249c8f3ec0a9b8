"""The workloads, a file per family, in the order of the report. A family of training loops belongs here too."""

from . import frontend, elementwise, reductions, structural, products, nn, numerics, growth  # noqa: I001 - this is the report's order
