#!/bin/sh
# Prints the pip options that tell CMake where Python's headers are: none where they are installed.
# Debian and Ubuntu keep them in a package of their own (libpython3.x-dev), which a fresh machine lacks. It is then
# fetched and unpacked below build/, without root and without installing anything.
set -e
python=$1
into=$PWD/build/python-headers

version=$($python -c 'import sys; print("%d.%d" % sys.version_info[:2])')
include=$($python -c 'import sysconfig; print(sysconfig.get_path("include"))')
[ -e "$include/Python.h" ] && exit 0

package=libpython$version-dev
if [ ! -e "$into/usr/include/python$version/Python.h" ]; then
  echo "Python.h is not installed; fetching $package into build/" >&2
  rm -rf "$into" && mkdir -p "$into/lists/partial" "$into/cache/archives/partial"
  apt="apt-get -qq -o APT::Sandbox::User= -o Debug::NoLocking=1 -o Dir::Cache=$into/cache"
  private="-o Dir::State::Lists=$into/lists"
  (cd "$into" && { $apt download "$package" 2>/dev/null || { $apt $private update && $apt $private download "$package"; }; } \
    && dpkg-deb -x "$package"_*.deb .) >&2 || {
    echo "Python's headers are missing: sudo apt install python3-dev" >&2
    exit 1
  }
fi
# Debian's pyconfig.h includes <x86_64-linux-gnu/python3.x/pyconfig.h>, so both folders are needed.
echo "--config-settings=cmake.define.Python_INCLUDE_DIR=$into/usr/include/python$version" \
  "--config-settings=cmake.define.CMAKE_CXX_FLAGS=-I$into/usr/include"
