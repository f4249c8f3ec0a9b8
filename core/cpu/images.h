// Images: unsigned integers that are ordered as the numbers they stand for, NaN last; and the entries that sorts move.
#pragma once

#include <cstring>
#include <limits>
#include <type_traits>

#include "../dtype.h"
#include "dispatch.h"

namespace slipstream::cpu {

template <size_t bytes>
using Unsigned =
    std::conditional_t<bytes == 1, uint8_t,
                       std::conditional_t<bytes == 2, uint16_t, std::conditional_t<bytes == 4, uint32_t, uint64_t>>>;

inline constexpr int64_t kSortChunk = 1 << 15;  // entries in a chunk of short lines

template <class T>
inline constexpr bool kIsFloat = is_float(DTypeOf<T>::value);
template <class T>
inline constexpr bool kIsComplex = is_complex(DTypeOf<T>::value);

template <class T>
struct Image {
  using Key = Unsigned<sizeof(T)>;
  static constexpr int kSignBit = 8 * sizeof(Key) - 1;
  static constexpr Key kSign = static_cast<Key>(Key{1} << kSignBit);
  static constexpr Key kLast = std::numeric_limits<Key>::max();  // of every NaN
  static constexpr Key kNegativeZero = static_cast<Key>(kSign - 1), kZero = kSign;
  static constexpr int kMantissa = std::is_same_v<T, f16_t>    ? 10
                                   : std::is_same_v<T, bf16_t> ? 7
                                   : sizeof(T) == 4            ? 23
                                                               : 52;
  static constexpr Key kInfinity = static_cast<Key>(((kSign - 1) >> kMantissa) << kMantissa);  // its bits

  static Key of(T v) {
    Key k;
    std::memcpy(&k, &v, sizeof k);
    if constexpr (kIsFloat<T>) {
      bool nan = static_cast<Key>(k & (kSign - 1)) > kInfinity;
      Key flip = static_cast<Key>(static_cast<Key>(-static_cast<Key>(k >> kSignBit)) | kSign);
      return nan ? kLast : static_cast<Key>(k ^ flip);
    } else if constexpr (std::is_signed_v<T>) {
      return static_cast<Key>(k ^ kSign);
    } else {
      return k;
    }
  }
  // One image for numbers that are equal: -0 counts as 0.
  static Key of_value(T v) {
    Key k = of(v);
    if constexpr (kIsFloat<T>) k = static_cast<Key>(k + (k == kNegativeZero));
    return k;
  }
  static T number(Key k) {
    if constexpr (kIsFloat<T>) {
      k = static_cast<Key>(k ^ static_cast<Key>(static_cast<Key>((k >> kSignBit) - Key{1}) | kSign));
    } else if constexpr (std::is_signed_v<T>) {
      k = static_cast<Key>(k ^ kSign);
    }
    T v;
    std::memcpy(&v, &k, sizeof v);
    return v;
  }
};

// Entries: bare images, or images with the place they came from in the lower half. The latter are all different, so
// that any way of sorting them keeps the order of equal numbers.
using Placed32 = uint64_t;
using Placed64 = unsigned __int128;

template <class T, bool placed, bool wide>
struct Entries {
  using Key = typename Image<T>::Key;
  using Entry = std::conditional_t<!placed, Key, std::conditional_t<wide, Placed64, Placed32>>;
  using Out = std::conditional_t<placed, int64_t, T>;
  static constexpr Sorted kKind = !placed ? (sizeof(T) == 1   ? Sorted::u8
                                             : sizeof(T) == 2 ? Sorted::u16
                                             : sizeof(T) == 4 ? Sorted::u32
                                                              : Sorted::u64)
                                  : wide  ? Sorted::placed64
                                          : Sorted::placed32;
  static constexpr int kHalf = 4 * sizeof(Entry);

  // Entries of x[0 .. n), the first of which has the place `first`.
  static void load(Entry* to, const T* x, int64_t first, int64_t n, bool descending) {
    Key flip = descending ? Image<T>::kLast : Key{0};
    for (int64_t i = 0; i < n; i++) {
      if constexpr (placed) {
        auto key = static_cast<Key>(Image<T>::of_value(x[i]) ^ flip);
        to[i] = static_cast<Entry>(key) << kHalf | static_cast<Entry>(first + i);
      } else {
        to[i] = static_cast<Key>(Image<T>::of(x[i]) ^ flip);
      }
    }
  }
  static void store(Out* to, const Entry* from, int64_t n, bool descending) {
    Key flip = descending ? Image<T>::kLast : Key{0};
    for (int64_t i = 0; i < n; i++) {
      if constexpr (placed) {
        to[i] = static_cast<int64_t>(from[i] & ((Entry{1} << kHalf) - 1));
      } else {
        to[i] = Image<T>::number(static_cast<Key>(from[i] ^ flip));
      }
    }
  }
};

// Calls f with the Entries that lines of n numbers are sorted by.
template <bool placed, class T, class F>
auto with_entries(int64_t n, F f) {
  if constexpr (placed && sizeof(T) == 8) {
    return f(Entries<T, true, true>{});
  } else if constexpr (placed) {
    return n > int64_t{UINT32_MAX} ? f(Entries<T, true, true>{}) : f(Entries<T, true, false>{});
  } else {
    return f(Entries<T, false, false>{});
  }
}

}  // namespace slipstream::cpu
