"""Other libraries on our arrays. SciPy reads this variable when it is imported; tests say which library they need."""

import os

os.environ.setdefault("SCIPY_ARRAY_API", "1")
