// A small test framework: TEST(name) { CHECK(...); } defines a test, core_tests runs them all.
#pragma once

#include <exception>
#include <functional>
#include <sstream>
#include <string>
#include <vector>

namespace check {

struct Test {
  const char* name;
  const char* file;
  void (*run)();
};
std::vector<Test>& tests();

struct Register {
  Register(const char* name, const char* file, void (*run)()) { tests().push_back({name, file, run}); }
};

// Thrown by REQUIRE, and by skip(): the test ends here.
struct Stop {};

// Notes a failure of the running test; any thread may call it. The test goes on.
void failed(const char* file, int line, const std::string& what);
// Ends the running test without a verdict, saying why.
[[noreturn]] void skip(const std::string& why);

template <class T>
std::string show(const T& value) {
  if constexpr (requires(std::ostream& out) { out << value; }) {
    std::ostringstream out;
    out.precision(17);
    out << std::boolalpha << value;
    return out.str();
  } else {
    return "(a value that cannot be shown)";
  }
}

// Checks that `call` throws an E whose message contains `part`.
template <class E, class F>
void throws(const char* file, int line, const char* code, const std::string& part, F call) {
  try {
    call();
  } catch (const E& error) {
    if (std::string(error.what()).find(part) == std::string::npos) {
      failed(file, line, std::string(code) + " throws\n    " + error.what() + "\n  instead of\n    ..." + part + "...");
    }
    return;
  } catch (const std::exception& error) {
    return failed(file, line, std::string(code) + " throws another class of exception: " + error.what());
  }
  failed(file, line, std::string(code) + " does not throw");
}

}  // namespace check

#define TEST(name)                                                      \
  static void test_##name();                                            \
  static check::Register register_##name(#name, __FILE__, test_##name); \
  static void test_##name()

#define CHECK(condition) ((condition) ? void() : check::failed(__FILE__, __LINE__, "CHECK(" #condition ")"))

// Like CHECK, and without it the rest of the test makes no sense. In the test's own thread only.
#define REQUIRE(condition) \
  ((condition) ? void() : (check::failed(__FILE__, __LINE__, "REQUIRE(" #condition ")"), throw check::Stop()))

#define CHECK_EQ(a, b)                                                                                    \
  do {                                                                                                    \
    const auto& check_a = (a);                                                                            \
    const auto& check_b = (b);                                                                            \
    if (!(check_a == check_b)) {                                                                          \
      check::failed(__FILE__, __LINE__,                                                                   \
                    "CHECK_EQ(" #a ", " #b "): " + check::show(check_a) + " != " + check::show(check_b)); \
    }                                                                                                     \
  } while (0)

// |a - b| <= tolerance; false for NaN.
#define CHECK_NEAR(a, b, tolerance)                                                                              \
  do {                                                                                                           \
    const double check_a = (a), check_b = (b);                                                                   \
    if (!(check_a - check_b <= (tolerance) && check_b - check_a <= (tolerance))) {                               \
      check::failed(__FILE__, __LINE__,                                                                          \
                    "CHECK_NEAR(" #a ", " #b "): " + check::show(check_a) + " against " + check::show(check_b)); \
    }                                                                                                            \
  } while (0)

// CHECK_THROWS(slipstream::Error, "do not align", dot(a, b));
#define CHECK_THROWS(exception, part, ...) \
  check::throws<exception>(__FILE__, __LINE__, #__VA_ARGS__, part, [&] { (void)(__VA_ARGS__); })
