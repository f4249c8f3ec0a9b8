"""`python -m benchmarks.install`: brings the peers into `.bench` and `.bench-mxnet`, and says which cannot be had.

They are for measuring alone: nothing of Slipstream needs them. MXNet lives apart, since it needs an old NumPy.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from .peers import PEERS

ROOT = Path(__file__).resolve().parent.parent
MAIN, OLD = ROOT / ".bench", ROOT / ".bench-mxnet"

# For each peer its environment and what to install, the alternatives in turn.
WANTED: dict[str, tuple[Path, list[list[str]]]] = {
    "torch": (
        MAIN,
        [
            ["torch==2.13.0+cpu", "numpy"],
            ["torch==2.13.0+cpu", "numpy", "--extra-index-url", "https://download.pytorch.org/whl/cpu"],
        ],
    ),
    "jax": (MAIN, [["jax"]]),
    "mlx": (MAIN, [["mlx[cpu]"]]),
    "tensorflow": (MAIN, [["tensorflow-cpu"], ["tensorflow"]]),
    "mxnet": (OLD, [["mxnet==2.0.0b1", "numpy<1.24"]]),
}


def interpreters() -> dict[str, str]:
    """The Python of each peer; ours runs NumPy too."""
    return {name: str(place / "bin" / "python") for name, (place, _) in WANTED.items()}


def run(*command: str) -> str:
    """Empty, or why it failed."""
    done = subprocess.run(command, capture_output=True, text=True)
    lines = [line for line in (done.stderr or done.stdout).strip().splitlines() if line.startswith("ERROR")]
    return "" if done.returncode == 0 else (lines or [f"status {done.returncode}"])[-1]


def install(name: str) -> str:
    place, alternatives = WANTED[name]
    python = place / "bin" / "python"
    if not python.exists() and (failed := run(sys.executable, "-m", "venv", str(place))):
        return failed
    pip = [str(python), "-m", "pip", "install", "-q", "--disable-pip-version-check"]
    failed = ""
    for packages in alternatives:
        if not (failed := run(*pip, *packages)):
            break
    return failed


def main() -> None:
    for name in WANTED:
        print(f"{PEERS[name].title}: ", end="", flush=True)
        failed = install(name)
        print(f"cannot be had, {failed}" if failed else "installed", flush=True)


if __name__ == "__main__":
    main()
