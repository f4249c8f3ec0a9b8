# Made by tools/make_stubs.py from the compiled module. Do not edit.

from typing import Any

from .._core import ndarray

def digamma(
    x: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def erf(
    x: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def erfc(
    x: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def erfinv(
    x: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def gamma(
    x: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def gammaln(
    x: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def gate(
    x1: Any,
    x2: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def log_sigmoid(
    x: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def polygamma(
    x1: Any,
    x2: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def relu(
    x: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def sigmoid(
    x: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def softplus(
    x: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def softsign(
    x: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
