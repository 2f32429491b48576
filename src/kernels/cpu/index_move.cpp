// The inner loops of index, gather and scatter: each index moves an element, or a run of elements,
// between table and `values`, by a copy (of the element or its address), sum, product or extreme.
// index_loop.cpp gives each thread its part. For writes along a dimension of more than 256 KiB,
// move_row() and move_row_in_range() prefetch 32 indices ahead. Bound by the cache misses of the
// table; in the cache, by a few loads and stores for each index.
#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "kernels/cpu/index_loop.h"
#include "kernels/cpu/strided.h"

namespace hearth::cpu {

namespace {

/// Calls write(i) for every i below count. If the row's dimension does not fit into a core's cache,
/// also calls fetch for the element kAhead steps ahead, because the processor starts few loads
/// ahead of a store.
template <class T, class Fetch, class Write>
void write_all(const IndexRow& row, int64_t count, const Fetch& fetch, const Write& write) {
  constexpr int64_t kAhead = 32, kCachedBytes = 1 << 18;
  const bool is_cached = row.dim.size * row.dim.stride * int64_t(sizeof(T)) <= kCachedBytes;
  int64_t i = 0;
  for (const int64_t end = is_cached ? 0 : count - kAhead; i < end; ++i) {
    fetch(i + kAhead);
    write(i);
  }
  for (; i < count; ++i) write(i);
}

/// Calls action(table element, value) for every element of the block's runs.
template <class T, class V, class Action>
void move_block(void* table, void* values, const IndexBlock& block, const IndexRun& run,
                const Action& action) {
  T* const table_start = static_cast<T*>(table);
  V* const values_start = static_cast<V*>(values);
  // Copies, because the compiler must assume that the elements may alias block and run.
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
    V* const v = values_start + block.values[i];
    if (dense) {
      for (int64_t j = 0; j < count; ++j) action(t[j], v[j]);
    } else {
      for (int64_t j = 0; j < count; ++j) action(t[j * table_stride], v[j * values_stride]);
    }
  }
}

/// Calls action(table element, value) for each index of a row.
template <class T, class V, class Action>
void move_row(void* table, void* values, const IndexRow& row, const IndexRun& run,
              const Action& action) {
  T* const table_start = static_cast<T*>(table);
  V* const values_start = static_cast<V*>(values);
  const auto [count, table_stride, values_stride] = run;
  const auto move_all = [&](auto table_step, auto values_step) {
    row.with_indices([=, &row, end = count, size = row.dim.stride](auto index) {
      const auto element = [=](int64_t i) {
        return table_start + i * table_step + static_cast<int64_t>(index(i)) * size;
      };
      const auto move = [=](int64_t i) { action(*element(i), values_start[i * values_step]); };
      if constexpr (Action::kWritesTable)
        write_all<T>(
            row, end, [=](int64_t i) { __builtin_prefetch(element(i), 1); }, move);
      else
        for (int64_t i = 0; i < end; ++i) move(i);
    });
  };
  if (table_stride == 0 && values_stride == 1)  // the strides of one-dimensional tensors
    move_all(std::integral_constant<int64_t, 0>(), std::integral_constant<int64_t, 1>());
  else
    move_all(table_stride, values_stride);
}

/// move_row for the elements in a range: lists them for a piece of the row, without unpredictable
/// branches, and then moves them.
template <class T, class V, class Action>
void move_row_in_range(void* table, void* values, const IndexRow& row, const IndexRun& run,
                       TableRange range, const Action& action) {
  constexpr int64_t kPiece = 4096;
  T* const table_start = static_cast<T*>(table);
  V* const values_start = static_cast<V*>(values);
  row.with_indices([=, &row, size = row.dim.stride](auto index) {
    const auto offset = [=, step = run.table_stride](int64_t i) {
      return i * step + static_cast<int64_t>(index(i)) * size;
    };
    uint16_t chosen[kPiece];
    for (int64_t begin = 0; begin < run.count; begin += kPiece) {
      const int64_t end = std::min(kPiece, run.count - begin);
      int64_t num_chosen = 0;
      for (int64_t i = 0; i < end; ++i) {
        chosen[num_chosen] = static_cast<uint16_t>(i);
        num_chosen += static_cast<uint64_t>(offset(begin + i) - range.begin) < range.size;
      }
      const auto element = [&](int64_t j) { return table_start + offset(begin + chosen[j]); };
      write_all<T>(
          row, num_chosen, [&](int64_t j) { __builtin_prefetch(element(j), 1); },
          [&](int64_t j) {
            action(*element(j), values_start[(begin + chosen[j]) * run.values_stride]);
          });
    }
  });
}

struct CopyFromTable {
  static constexpr bool kWritesTable = false;
  template <class T>
  void operator()(const T& table, T& value) const {
    value = table;
  }
};

struct AddressInTable {
  static constexpr bool kWritesTable = false;
  template <class T>
  void operator()(const T& table, int64_t& value) const {
    value = reinterpret_cast<intptr_t>(&table);
  }
};

struct CopyToTable {
  static constexpr bool kWritesTable = true;
  template <class T>
  void operator()(T& table, const T& value) const {
    table = value;
  }
};

struct ElementSum {
  template <class T>
  static T of(T a, T b) {
    return a + b;
  }
  static bool of(bool a, bool b) { return a || b; }
};

struct ElementProduct {
  template <class T>
  static T of(T a, T b) {
    return a * b;
  }
  static bool of(bool a, bool b) { return a && b; }
};

/// Combines the table's element with a value, in the table.
template <class Operation>
struct IntoTable {
  static constexpr bool kWritesTable = true;
  template <class T, class V>
  void operator()(T& table, const V& value) const {
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
      using Unsigned = uint64_t;  // because signed overflow is undefined
      table =
          static_cast<T>(Operation::of(static_cast<Unsigned>(table), static_cast<Unsigned>(value)));
    } else {
      table = Operation::of(table, T(value));
    }
  }
};

/// Keeps the larger (or smaller) of the table's element and a value; NaN wins.
template <bool largest>
struct ExtremeIntoTable {
  static constexpr bool kWritesTable = true;
  template <class T>
  void operator()(T& table, const T& value) const {
    if constexpr (requires { value < table; }) {
      const bool is_nan = !(value == value);
      if (is_nan || (largest ? table < value : value < table)) table = value;
    }
  }
};

template <class T, class V, class Action>
constexpr Mover kMover{
    [](void* table, void* values, const IndexBlock& block, const IndexRun& run) {
      move_block<T, V>(table, values, block, run, Action{});
    },
    [](void* table, void* values, const IndexRow& row, const IndexRun& run) {
      move_row<T, V>(table, values, row, run, Action{});
    },
    [](void* table, void* values, const IndexRow& row, const IndexRun& run, TableRange range) {
      move_row_in_range<T, V>(table, values, row, run, range, Action{});
    }};

template <class Action>
Mover copy_function(size_t element_size) {
  Mover result{};
  with_element_type(element_size, [&](auto element) {
    using T = decltype(element);
    result = kMover<T, T, Action>;
  });
  return result;
}

/// The type in which sums and products of elements of a type are computed.
template <class T>
using TotalType = std::conditional_t<is_reduced_float(dtype_of<T>), float, T>;

template <class Operation>
Mover combining_function(ScalarType dtype) {
  Mover result{};
  with_dtype(dtype, [&](auto element) {
    using T = decltype(element);
    result = kMover<TotalType<T>, T, IntoTable<Operation>>;
  });
  return result;
}
template <bool largest>
Mover extreme_function(ScalarType dtype) {
  Mover result{};
  with_dtype(dtype, [&](auto element) {
    using T = decltype(element);
    result = kMover<T, T, ExtremeIntoTable<largest>>;
  });
  return result;
}

}  // namespace

Mover copy_from_table(size_t element_size) { return copy_function<CopyFromTable>(element_size); }
Mover copy_to_table(size_t element_size) { return copy_function<CopyToTable>(element_size); }
Mover address_in_table(size_t element_size) {
  Mover result{};
  with_element_type(element_size, [&](auto element) {
    result = kMover<decltype(element), int64_t, AddressInTable>;
  });
  return result;
}

Mover add_to_table(ScalarType dtype) { return combining_function<ElementSum>(dtype); }
Mover multiply_table(ScalarType dtype) { return combining_function<ElementProduct>(dtype); }
Mover extreme_table(ScalarType dtype, bool largest) {
  return largest ? extreme_function<true>(dtype) : extreme_function<false>(dtype);
}

}  // namespace hearth::cpu
