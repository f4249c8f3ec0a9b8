"""NumPy's functions and the Python array API standard, on arrays whose values are computed behind Python's back.

>>> from slipstream import np
>>> np.dot(np.ones((2, 3)), np.ones((3, 1)))
array([[3.],
       [3.]])
"""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING

from .._core import ndarray as ndarray
from . import (
    _conveniences,
    _counting,
    _creation,
    _dtype,
    _einsum,
    _elementwise,
    _files,
    _functional,
    _indexing,
    _joining,
    _linalg,
    _manipulation,
    _memory,
    _methods,
    _numerics,
    _padding,
    _places,
    _polynomials,
    _printing,
    _reduction,
    _rows,
    _sets,
    _signals,
    _sorting,
    _statistics,
    _walking,
    _windows,
)
from . import fft as fft
from . import linalg as linalg
from . import random as random
from ._conveniences import *
from ._counting import *
from ._creation import *
from ._dtype import *
from ._dtype import bool_ as bool
from ._einsum import *
from ._elementwise import *
from ._files import *
from ._functional import *
from ._indexing import *
from ._joining import *
from ._linalg import *
from ._manipulation import *
from ._memory import *
from ._namespace import namespace_info as __array_namespace_info__
from ._numerics import *
from ._padding import *
from ._places import *
from ._polynomials import *
from ._printing import *
from ._reduction import *
from ._rows import *
from ._sets import *
from ._signals import *
from ._sorting import *
from ._statistics import *
from ._walking import *
from ._windows import *

__array_api_version__ = "2024.12"

_methods.attach()

if not TYPE_CHECKING:  # what the modules above offer
    __all__ = ["bool", "fft", "linalg", "ndarray", "random"]
    for _name, _part in sorted(globals().items()):
        if _name.startswith("_") and isinstance(_part, ModuleType):
            __all__ += [name for name in getattr(_part, "__all__", ()) if name in globals()]
