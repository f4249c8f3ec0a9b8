"""Other libraries on our arrays. SciPy reads this variable when it is imported; each test says which library it needs."""

import os

os.environ.setdefault("SCIPY_ARRAY_API", "1")
