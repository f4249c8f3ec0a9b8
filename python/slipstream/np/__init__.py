"""NumPy's functions and the Python array API standard, on arrays whose values are computed behind Python's back.

>>> from slipstream import np
>>> np.dot(np.ones((2, 3)), np.ones((3, 1)))
array([[3.],
       [3.]])
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._core import ndarray as ndarray
from . import (
    _counting,
    _creation,
    _dtype,
    _elementwise,
    _indexing,
    _joining,
    _linalg,
    _manipulation,
    _methods,
    _polynomial,
    _printing,
    _reduction,
    _rows,
    _sets,
    _signals,
    _sorting,
    _statistics,
)
from . import random as random
from ._counting import *
from ._creation import *
from ._dtype import *
from ._dtype import bool_ as bool
from ._elementwise import *
from ._indexing import *
from ._joining import *
from ._linalg import *
from ._manipulation import *
from ._namespace import namespace_info as __array_namespace_info__
from ._polynomial import *
from ._printing import *
from ._reduction import *
from ._rows import *
from ._sets import *
from ._signals import *
from ._sorting import *
from ._statistics import *

__array_api_version__ = "2024.12"

_methods.attach()

if not TYPE_CHECKING:
    __all__ = ["bool", "ndarray", "random"]
    for _module in (_creation, _dtype, _elementwise, _indexing, _joining, _linalg, _manipulation):
        __all__ += _module.__all__
    for _module in (_printing, _reduction, _rows, _sets, _sorting):
        __all__ += _module.__all__
    for _module in (_counting, _polynomial, _signals, _statistics):
        __all__ += _module.__all__
