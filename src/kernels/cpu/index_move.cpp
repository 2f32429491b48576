#include <cstdint>
#include <type_traits>

#include "kernels/cpu/index_loop.h"
#include "kernels/cpu/strided.h"

namespace hearth::cpu {

namespace {

/// Calls action(table element, value) for every element of the block's runs.
template <class T, class Action>
void move_block(void* table, void* values, const IndexBlock& block, const IndexRun& run,
                const Action& action) {
  T* const table_start = static_cast<T*>(table);
  T* const values_start = static_cast<T*>(values);
  // Copies, because to the compiler the elements may alias block and run.
  const int64_t positions = block.count;
  const auto [count, table_stride, values_stride] = run;
  if (count == 1) {
    for (int64_t i = 0; i < positions; ++i)
      action(table_start[block.table[i]], values_start[block.values[i]]);
    return;
  }
  const bool dense = table_stride == 1 && values_stride == 1;
  for (int64_t i = 0; i < positions; ++i) {
    T* const t = table_start + block.table[i];
    T* const v = values_start + block.values[i];
    if (dense) {
      for (int64_t j = 0; j < count; ++j) action(t[j], v[j]);
    } else {
      for (int64_t j = 0; j < count; ++j) action(t[j * table_stride], v[j * values_stride]);
    }
  }
}

struct CopyFromTable {
  template <class T>
  void operator()(const T& table, T& value) const {
    value = table;
  }
};

struct CopyToTable {
  template <class T>
  void operator()(T& table, const T& value) const {
    table = value;
  }
};

struct Sum {
  template <class T>
  static T of(T a, T b) {
    return a + b;
  }
  static bool of(bool a, bool b) { return a || b; }
};

struct AddressProduct {
  template <class T>
  static T of(T a, T b) {
    return a * b;
  }
  static bool of(bool a, bool b) { return a && b; }
};

/// Combines the table's element with a value, in the table.
template <class Operation>
struct IntoTable {
  template <class T>
  void operator()(T& table, const T& value) const {
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
      using Unsigned = uint64_t;  // because signed overflow is undefined
      table =
          static_cast<T>(Operation::of(static_cast<Unsigned>(table), static_cast<Unsigned>(value)));
    } else if constexpr (std::is_convertible_v<T, float> && sizeof(T) == 2) {
      table = T(Operation::of(float(table), float(value)));
    } else {
      table = Operation::of(table, value);
    }
  }
};

/// Keeps the larger (or smaller) of the table's element and a value; NaN wins.
template <bool largest>
struct ExtremeIntoTable {
  template <class T>
  void operator()(T& table, const T& value) const {
    if constexpr (requires { value < table; }) {
      const bool is_nan = !(value == value);
      if (is_nan || (largest ? table < value : value < table)) table = value;
    }
  }
};

template <class T, class Action>
constexpr MoveBlock move_with =
    [](void* table, void* values, const IndexBlock& block, const IndexRun& run) {
      move_block<T>(table, values, block, run, Action{});
    };

template <class Action>
MoveBlock copy_function(size_t element_size) {
  MoveBlock result = nullptr;
  with_element_type(element_size,
                    [&](auto element) { result = move_with<decltype(element), Action>; });
  return result;
}

template <class Action>
MoveBlock combining_function(ScalarType dtype) {
  MoveBlock result = nullptr;
  with_dtype(dtype, [&](auto element) { result = move_with<decltype(element), Action>; });
  return result;
}

}  // namespace

MoveBlock copy_from_table(size_t element_size) {
  return copy_function<CopyFromTable>(element_size);
}
MoveBlock copy_to_table(size_t element_size) { return copy_function<CopyToTable>(element_size); }

MoveBlock add_to_table(ScalarType dtype) { return combining_function<IntoTable<Sum>>(dtype); }
MoveBlock multiply_table(ScalarType dtype) {
  return combining_function<IntoTable<AddressProduct>>(dtype);
}
MoveBlock extreme_table(ScalarType dtype, bool largest) {
  return largest ? combining_function<ExtremeIntoTable<true>>(dtype)
                 : combining_function<ExtremeIntoTable<false>>(dtype);
}

}  // namespace hearth::cpu
