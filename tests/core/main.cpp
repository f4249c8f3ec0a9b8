// Runs the tests: core_tests [--list] [--verbose] [--repeat N] [--timeout SECONDS] [part of a name or file ...]
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>

#include "check.h"

namespace check {

std::vector<Test>& tests() {
  static std::vector<Test> all;
  return all;
}

namespace {

struct Skip {
  std::string why;
};

std::mutex print_mutex;
std::atomic<int> failures{0};  // of the running test
const char* volatile running = "";

// A test that hangs is a failure with a name, not a silent CI job.
void on_alarm(int) {
  const char* parts[] = {"\nFAILED ", running, ": takes too long\n"};
  for (const char* part : parts) (void)!write(STDERR_FILENO, part, std::strlen(part));
  abort();  // leaves a core file or stops in the debugger, where the stacks can be seen
}

struct Options {
  bool list = false, verbose = false;
  int repeat = 1, timeout = 120;
  std::vector<std::string> parts;

  bool wants(const Test& test) const {
    if (parts.empty()) return true;
    return std::any_of(parts.begin(), parts.end(), [&](const std::string& part) {
      return std::string(test.name).find(part) != std::string::npos ||
             std::string(test.file).find(part) != std::string::npos;
    });
  }
};

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; i++) {
    const std::string word = argv[i];
    auto number = [&] {
      const int n = i + 1 < argc ? std::atoi(argv[++i]) : 0;
      if (n < 1) {
        std::fprintf(stderr, "%s needs a number above 0\n", word.c_str());
        std::exit(2);
      }
      return n;
    };
    if (word == "--list") {
      options.list = true;
    } else if (word == "--verbose" || word == "-v") {
      options.verbose = true;
    } else if (word == "--repeat") {
      options.repeat = number();
    } else if (word == "--timeout") {
      options.timeout = number();
    } else if (word[0] == '-') {
      std::fprintf(stderr, "unknown option %s\n", word.c_str());
      std::exit(2);
    } else {
      options.parts.push_back(word);
    }
  }
  return options;
}

enum class Outcome { passed, failed, skipped };

Outcome run(const Test& test, const Options& options) {
  failures = 0;
  running = test.name;
  const auto start = std::chrono::steady_clock::now();
  alarm(options.timeout);
  std::string skipped;
  try {
    test.run();
  } catch (const Stop&) {
  } catch (const Skip& skip) {
    skipped = skip.why;
  } catch (const std::exception& error) {
    failed(test.file, 0, std::string("threw ") + error.what());
  }
  alarm(0);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  if (failures) return Outcome::failed;
  if (!skipped.empty()) {
    std::printf("skipped %s: %s\n", test.name, skipped.c_str());
    return Outcome::skipped;
  }
  if (options.verbose) std::printf("ok %s (%.2f s)\n", test.name, seconds.count());
  return Outcome::passed;
}

int main(const Options& options) {
  std::signal(SIGALRM, on_alarm);
  int counts[3] = {};
  for (int round = 0; round < options.repeat; round++) {
    for (const Test& test : tests()) {
      if (!options.wants(test)) continue;
      if (options.list) {
        std::printf("%s\n", test.name);
        continue;
      }
      counts[static_cast<int>(run(test, options))]++;
      std::fflush(stdout);
    }
  }
  if (options.list) return 0;
  const auto [passed, failed, skipped] = counts;
  std::printf("%d passed, %d failed", passed, failed);
  if (skipped) std::printf(", %d skipped", skipped);
  std::printf("\n");
  return failed || !passed;  // a filter that matches nothing is a mistake
}

}  // namespace

void failed(const char* file, int line, const std::string& what) {
  std::lock_guard<std::mutex> lock(print_mutex);
  if (!failures++) std::printf("FAILED %s\n", running);
  std::printf("  %s:%d: %s\n", file, line, what.c_str());
  std::fflush(stdout);
}

void skip(const std::string& why) { throw Skip{why}; }

}  // namespace check

int main(int argc, char** argv) { return check::main(check::parse(argc, argv)); }
