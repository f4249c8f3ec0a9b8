"""usage: slipstream [tour [options] | info | environment]

tour         runs the book's experiments on this machine and writes tour.html (slipstream tour --help)
info         version, engine, devices and limits
environment  every environment variable, as a page of Markdown
"""

from __future__ import annotations

import platform
import sys


def info() -> str:
    """What is installed and how it is set up, one fact a line."""
    import numpy

    from . import __version__, _core, engine
    from .device import num_gpus

    facts = {
        "slipstream": __version__,
        "python": platform.python_version(),
        "numpy": numpy.__version__,
        "machine": f"{platform.machine()}, vector loops {_core.isa()}",
        "engine": f"{engine.kind()}, {engine.workers()} workers",
        "gpus": num_gpus(),
        **{f"limit {name}": value for name, value in engine.limits().items()},
    }
    return "\n".join(f"{name:14} {value}" for name, value in facts.items())


def main(argv: list[str] | None = None) -> int:
    """Runs one command and returns the exit status."""
    arguments = sys.argv[1:] if argv is None else argv
    command, rest = (arguments[0], arguments[1:]) if arguments else ("", [])
    if command == "tour":
        from .tour import run

        return run(rest) or 0
    if command == "info" and not rest:
        print(info())
        return 0
    if command == "environment" and not rest:
        from . import config

        print(config.markdown(), end="")
        return 0
    asked = command in ("-h", "--help", "help")
    print(__doc__.strip(), file=sys.stdout if asked else sys.stderr)
    return 0 if asked else 2


if __name__ == "__main__":
    sys.exit(main())
