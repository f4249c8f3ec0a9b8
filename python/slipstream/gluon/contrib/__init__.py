"""Helpers around training that are not layers: the estimator."""

from . import estimator as estimator

__all__ = ["estimator"]
