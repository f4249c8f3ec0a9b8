// Type rules: for each rule named in ops.def, the types its rows compute in and the type of what they give.
#pragma once

#include "dtype.h"

namespace slipstream {

enum KindSet : uint8_t { kBool = 1, kInt = 2, kReal = 4, kComplex = 8, kHalf = 16, kAnyKind = 15 };

// What happens to integers and booleans that a rule does not compute with.
enum class Lift : uint8_t {
  refuse,    // TypeError
  to_int8,   // booleans become int8, as in NumPy
  to_float,  // the smallest float that holds them: int8 -> float16, int16 -> float32, others float64
  to_f64,    // always float64
  to_bool,   // everything is first asked whether it is nonzero
  natural,   // sums: small integers grow to 64 bits
};
enum class Gives : uint8_t { same, boolean, real };

struct RuleInfo {
  const char* name;
  uint8_t computes;  // a KindSet; kHalf: 16-bit floats have loops of their own instead of computing in float32
  Lift lift;
  Gives gives;
  bool condition_first = false;  // the first argument is a condition of type bool
};

enum class Rule : uint8_t {
  ALL,
  NUMBER,
  LIFTED,
  DIVMOD,
  REALS,
  BITS,
  SHIFT,
  WHOLE,
  DIVIDE,
  FLOAT,
  REAL,
  STEP,
  DOUBLE,
  MAGNITUDE,
  TEST,
  SIGNBIT,
  COMPARE,
  LOGICAL,
  SELECT,
  SUM,
  EXTREME,
  TRUTH
};

inline constexpr RuleInfo kRules[] = {
    {"ALL", kAnyKind, Lift::refuse, Gives::same},
    {"NUMBER", kInt | kReal | kComplex, Lift::refuse, Gives::same},
    {"LIFTED", kInt | kReal | kComplex, Lift::to_int8, Gives::same},
    {"DIVMOD", kInt | kReal, Lift::to_int8, Gives::same},
    {"REALS", kBool | kInt | kReal, Lift::refuse, Gives::same},
    {"BITS", kBool | kInt, Lift::refuse, Gives::same},
    {"SHIFT", kInt, Lift::to_int8, Gives::same},
    {"WHOLE", kInt, Lift::refuse, Gives::same},
    {"DIVIDE", kReal | kComplex, Lift::to_f64, Gives::same},
    {"FLOAT", kReal | kComplex, Lift::to_float, Gives::same},
    {"REAL", kReal, Lift::to_float, Gives::same},
    {"STEP", kReal | kHalf, Lift::to_float, Gives::same},
    {"DOUBLE", kReal | kComplex, Lift::to_f64, Gives::same},
    {"MAGNITUDE", kAnyKind, Lift::refuse, Gives::real},
    {"TEST", kAnyKind, Lift::refuse, Gives::boolean},
    {"SIGNBIT", kInt | kReal, Lift::to_int8, Gives::boolean},
    {"COMPARE", kAnyKind, Lift::refuse, Gives::boolean},
    {"LOGICAL", kBool, Lift::to_bool, Gives::boolean},
    {"SELECT", kAnyKind, Lift::refuse, Gives::same, true},
    {"SUM", kAnyKind, Lift::natural, Gives::same},
    {"EXTREME", kAnyKind, Lift::refuse, Gives::same},
    {"TRUTH", kBool, Lift::to_bool, Gives::boolean},
};
constexpr const RuleInfo& info(Rule rule) { return kRules[static_cast<int>(rule)]; }

// Does a loop of this rule exist for the type?
constexpr bool computes(Rule rule, DType t) {
  uint8_t set = info(rule).computes;
  switch (kind(t)) {
    case Kind::boolean: return set & kBool;
    case Kind::integer: return set & kInt;
    case Kind::real:
      return (set & kReal) && (!is_half(t) || (set & kHalf)) && (rule != Rule::DOUBLE || t == DType::f64);
    default: return (set & kComplex) && (rule != Rule::DOUBLE || t == DType::c128);
  }
}

// The type of what a loop gives.
constexpr DType given(Rule rule, DType t) {
  if (info(rule).gives == Gives::boolean) return DType::b1;
  if (info(rule).gives == Gives::real && is_complex(t)) return t == DType::c64 ? DType::f32 : DType::f64;
  return t;
}

}  // namespace slipstream
