"""The workloads, a file per family, in the order of the report."""

# isort: off
from . import frontend
from . import calls
from . import elementwise
from . import reductions
from . import structural
from . import indexing
from . import sorting
from . import products
from . import linalg
from . import nn
from . import training
from . import numerics
from . import growth
# isort: on
