// A forked child that runs part of a test and tells how it went by its exit status.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>

// There in builds that measure coverage: writes down what ran, which _exit would not.
extern "C" void __gcov_dump() __attribute__((weak));

namespace check {

// Runs `body`, an int(), in a child that leaves without destroying anything; gives what it returned, or -1.
template <class F>
int in_child(F body) {
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    const int code = body();
    if (__gcov_dump) __gcov_dump();
    _exit(code);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace check
