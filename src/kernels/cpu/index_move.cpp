#include <cstdint>
#include <type_traits>

#include "kernels/cpu/index_loop.h"
#include "kernels/cpu/strided.h"

namespace hearth::cpu {

namespace {

/// Calls action(table element, list element) for every element of the block's runs.
template <class T, class Action>
void move_block(void* table, void* list, const IndexBlock& block, const IndexRun& run,
                const Action& action) {
  T* const table_start = static_cast<T*>(table);
  T* const list_start = static_cast<T*>(list);
  // Copies, because to the compiler the elements may lie over block and run.
  const int64_t positions = block.count;
  const auto [count, table_stride, list_stride] = run;
  if (count == 1) {
    for (int64_t i = 0; i < positions; ++i)
      action(table_start[block.table[i]], list_start[block.list[i]]);
    return;
  }
  const bool dense = table_stride == 1 && list_stride == 1;
  for (int64_t i = 0; i < positions; ++i) {
    T* const t = table_start + block.table[i];
    T* const l = list_start + block.list[i];
    if (dense) {
      for (int64_t j = 0; j < count; ++j) action(t[j], l[j]);
    } else {
      for (int64_t j = 0; j < count; ++j) action(t[j * table_stride], l[j * list_stride]);
    }
  }
}

struct CopyFromTable {
  template <class T>
  void operator()(const T& table, T& list) const {
    list = table;
  }
};

struct CopyToTable {
  template <class T>
  void operator()(T& table, const T& list) const {
    table = list;
  }
};

struct Sum {
  template <class T>
  static T of(T a, T b) {
    return a + b;
  }
  static bool of(bool a, bool b) { return a || b; }
};

struct Product {
  template <class T>
  static T of(T a, T b) {
    return a * b;
  }
  static bool of(bool a, bool b) { return a && b; }
};

/// Combines what is in the table with what is in the list.
template <class Operation>
struct IntoTable {
  template <class T>
  void operator()(T& table, const T& list) const {
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
      using Unsigned = uint64_t;  // because signed overflow is undefined
      table =
          static_cast<T>(Operation::of(static_cast<Unsigned>(table), static_cast<Unsigned>(list)));
    } else if constexpr (std::is_convertible_v<T, float> && sizeof(T) == 2) {
      table = T(Operation::of(float(table), float(list)));
    } else {
      table = Operation::of(table, list);
    }
  }
};

template <class T, class Action>
constexpr MoveBlock move_with =
    [](void* table, void* list, const IndexBlock& block, const IndexRun& run) {
      move_block<T>(table, list, block, run, Action{});
    };

template <class Action>
MoveBlock copy_function(size_t element_size) {
  MoveBlock result = nullptr;
  with_element_type(element_size,
                    [&](auto element) { result = move_with<decltype(element), Action>; });
  return result;
}

template <class Operation>
MoveBlock combining_function(ScalarType dtype) {
  MoveBlock result = nullptr;
  with_dtype(dtype,
             [&](auto element) { result = move_with<decltype(element), IntoTable<Operation>>; });
  return result;
}

}  // namespace

MoveBlock copy_from_table(size_t element_size) {
  return copy_function<CopyFromTable>(element_size);
}
MoveBlock copy_to_table(size_t element_size) { return copy_function<CopyToTable>(element_size); }

MoveBlock add_to_table(ScalarType dtype) { return combining_function<Sum>(dtype); }
MoveBlock multiply_table(ScalarType dtype) { return combining_function<Product>(dtype); }

}  // namespace hearth::cpu
