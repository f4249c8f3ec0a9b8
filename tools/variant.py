"""Builds another variant of the library below build/, and runs the C++ tests or a Python program with it.

    variant.py thread core [arguments of core_tests]
    variant.py address python tests/programs/stress.py
    variant.py coverage core

thread and address are sanitizer builds, coverage counts the lines of core/engine that run, aarch64 is a cross build.
"""

import os
import platform
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BIN = Path(sys.executable).parent

# One instruction set is enough here: the loops of the others are the same source.
ONE_ISA = {"SLIPSTREAM_ISAS": "v2"} if platform.machine() == "x86_64" else {}
VARIANTS: dict[str, dict[str, str]] = {
    "thread": {"SLIPSTREAM_SANITIZE": "thread", "CMAKE_BUILD_TYPE": "Debug", **ONE_ISA},
    "address": {"SLIPSTREAM_SANITIZE": "address", "CMAKE_BUILD_TYPE": "Debug", **ONE_ISA},
    "coverage": {
        "SLIPSTREAM_COVERAGE": "ON",
        "CMAKE_BUILD_TYPE": "None",
        "CMAKE_EXE_LINKER_FLAGS": "-Wl,-u,__gcov_dump",  # for tests in children; see tests/core/child.h
        "SLIPSTREAM_PYTHON": "OFF",
        **ONE_ISA,
    },
    "aarch64": {
        "CMAKE_SYSTEM_NAME": "Linux",
        "CMAKE_SYSTEM_PROCESSOR": "aarch64",
        "CMAKE_CXX_COMPILER": "aarch64-linux-gnu-g++",
        "SLIPSTREAM_PYTHON": "OFF",
    },
}


def build(variant: str, target: str) -> Path:
    """Configures and compiles one target; returns the build folder."""
    folder = ROOT / "build" / variant
    options = {"CMAKE_MAKE_PROGRAM": str(BIN / "ninja"), "Python_EXECUTABLE": sys.executable, "SLIPSTREAM_TESTS": "ON"}
    options |= VARIANTS[variant] if "SLIPSTREAM_PYTHON" in VARIANTS[variant] else python_headers() | VARIANTS[variant]
    defines = [f"-D{name}={value}" for name, value in options.items()]
    subprocess.run(
        [BIN / "cmake", "-S", ROOT, "-B", folder, "-G", "Ninja", "--log-level=WARNING", *defines],
        check=True,
        stdout=subprocess.DEVNULL,
    )
    subprocess.run([BIN / "cmake", "--build", folder, "--target", target], check=True)
    return folder


def python_headers() -> dict[str, str]:
    """The CMake settings of tools/python_headers.sh."""
    words = subprocess.check_output([ROOT / "tools/python_headers.sh", sys.executable], cwd=ROOT, text=True).split()
    settings = [word.removeprefix("--config-settings=cmake.define.") for word in words]
    return dict(setting.split("=", 1) for setting in settings)


def package(folder: Path) -> Path:
    """The Python package with this variant's module, in a folder for PYTHONPATH."""
    path = folder / "package"
    shutil.rmtree(path, ignore_errors=True)
    shutil.copytree(ROOT / "python", path, ignore=shutil.ignore_patterns("__pycache__", "*.so"))
    for module in (folder / "bindings").glob("_core*.so"):
        shutil.copy2(module, path / "slipstream")
    return path


def runtime(variant: str, library: bool) -> dict[str, str]:
    """Settings of the sanitizers. Python itself is not instrumented, so the runtime library goes before all others."""
    if variant not in ("thread", "address"):
        return {}
    if variant == "thread":
        env = {"TSAN_OPTIONS": "halt_on_error=0:exitcode=66:second_deadlock_stack=1:history_size=7:die_after_fork=0"}
    else:
        # Leaks are looked for in the C++ tests; the interpreter itself leaves much behind at exit.
        leaks = 0 if library else 1
        env = {
            "ASAN_OPTIONS": f"detect_leaks={leaks}:allocator_may_return_null=1:detect_stack_use_after_return=1",
            "UBSAN_OPTIONS": "print_stacktrace=1",
        }
    if library:
        names = ["libtsan.so"] if variant == "thread" else ["libasan.so", "libstdc++.so"]
        paths = [subprocess.check_output(["g++", f"-print-file-name={name}"], text=True).strip() for name in names]
        env["LD_PRELOAD"] = " ".join(os.path.realpath(path) for path in paths)
        env["PYTHONMALLOC"] = "malloc"
    return env


def launcher(variant: str) -> list[str]:
    """What must come before the command."""
    if variant == "aarch64":
        qemu = shutil.which("qemu-aarch64-static") or shutil.which("qemu-aarch64")
        if not qemu:
            print("compiled; qemu-aarch64 is not installed, so nothing was run")
            sys.exit(0)
        return [qemu, "-L", "/usr/aarch64-linux-gnu"]
    # The sanitizers of older compilers fail where the kernel spreads mappings over too much of the address space.
    bits = Path("/proc/sys/vm/mmap_rnd_bits")
    if variant in ("thread", "address") and bits.exists() and int(bits.read_text()) > 28:
        return ["setarch", platform.machine(), "-R"]
    return []


def run_core(variant: str, arguments: list[str]) -> int:
    tests = build(variant, "core_tests") / "tests/core/core_tests"
    slow = ["--timeout", "600"]
    return subprocess.call([*launcher(variant), tests, *slow, *arguments], env=os.environ | runtime(variant, False))


def run_python(variant: str, arguments: list[str]) -> int:
    """Runs the interpreter .venv was made from: in .venv itself the installed module would be found first."""
    path = [str(package(build(variant, "_core"))), sysconfig.get_path("purelib")]
    env = os.environ | runtime(variant, True) | {"PYTHONPATH": os.pathsep.join(path), "PYTHONNOUSERSITE": "1"}
    python = os.path.realpath(sys._base_executable)  # type: ignore[attr-defined]
    return subprocess.call([*launcher(variant), python, *arguments], env=env, cwd=ROOT)


def main() -> int:
    if len(sys.argv) < 3 or sys.argv[1] not in VARIANTS or sys.argv[2] not in ("core", "python"):
        print(__doc__)
        return 2
    variant, what, *arguments = sys.argv[1:]
    return run_core(variant, arguments) if what == "core" else run_python(variant, arguments)


if __name__ == "__main__":
    sys.exit(main())
