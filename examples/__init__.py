"""Small programs that learn something in under a minute, on data they make: `python -m examples.NAME [--quick]`."""
