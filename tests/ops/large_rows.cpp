// Large calls of elementwise ops, reductions, products, joining, indexing, ranges, triangles,
// scans, sorting and random numbers.
#include <algorithm>
#include <cstring>
#include <limits>
#include <numeric>

#include "hearth/indexing.h"
#include "tests/ops/large.h"

namespace hearth::testing {
namespace {

constexpr int64_t kRows = 157, kColumns = 1027, kCount = kRows * kColumns;

const Large& matrix() {
  static const Large a = large({kRows, kColumns}, 1);
  return a;
}
const Large& other() {
  static const Large b = large({kRows, kColumns}, 2);
  return b;
}

/// An array of rows x columns elements f(i, j).
Array table(int64_t rows, int64_t columns, const std::function<double(int64_t, int64_t)>& f) {
  Array result{{rows, columns}, {}};
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j) result.values.push_back(f(i, j));
  return result;
}

/// An array of `count` elements f(i).
Array list(int64_t count, const std::function<double(int64_t)>& f) {
  Array result{{count}, {}};
  for (int64_t i = 0; i < count; ++i) result.values.push_back(f(i));
  return result;
}

LargeCase pointwise(ScalarType dtype) {
  const Tensor a = matrix().tensor(dtype), b = large({kColumns, 1}, 3).tensor(dtype);
  const Large column = large({kColumns, 1}, 3);
  return {
      [=] {
        return Tensors{a.t().mul(b).add(a.t(), 2), a.tanh(), a.gt(0)};
      },
      {table(kColumns, kRows,
             [&](int64_t i, int64_t j) { return matrix()[j * kColumns + i] * (column[i] + 2); }),
       table(kRows, kColumns,
             [&](int64_t i, int64_t j) { return std::tanh(matrix()[i * kColumns + j]); }),
       table(kRows, kColumns,
             [&](int64_t i, int64_t j) { return double(matrix()[i * kColumns + j] > 0); })}};
}

double reduce_row(int64_t i, const std::function<double(double, double)>& f, double start) {
  for (int64_t j = 0; j < kColumns; ++j) start = f(start, matrix()[i * kColumns + j]);
  return start;
}
double reduce_column(int64_t j, const std::function<double(double, double)>& f, double start) {
  for (int64_t i = 0; i < kRows; ++i) start = f(start, matrix()[i * kColumns + j]);
  return start;
}

LargeCase reductions(ScalarType dtype) {
  const Tensor a = matrix().tensor(dtype);
  const auto add = [](double x, double y) { return x + y; };
  const auto square = [](double x, double y) { return x + y * y; };
  const auto maximum = [](double x, double y) { return std::max(x, y); };
  const Numbers& all = matrix().values;
  const double total = std::accumulate(all.begin(), all.end(), 0.0);
  double squares = 0;
  for (const double v : all) squares += (v - total / kCount) * (v - total / kCount);
  return {[=] {
            return Tensors{a.sum(),   a.sum(0), a.sum(1),     a.t().sum(0),   a.amax(0),
                           a.amax(1), a.var(),  a.norm(2, 0), a.isnan().any()};
          },
          {Array{{}, {total}}, list(kColumns, [&](int64_t j) { return reduce_column(j, add, 0); }),
           list(kRows, [&](int64_t i) { return reduce_row(i, add, 0); }),
           list(kRows, [&](int64_t i) { return reduce_row(i, add, 0); }),
           list(kColumns, [&](int64_t j) { return reduce_column(j, maximum, -2); }),
           list(kRows, [&](int64_t i) { return reduce_row(i, maximum, -2); }),
           Array{{}, {squares / (kCount - 1)}},
           list(kColumns, [&](int64_t j) { return std::sqrt(reduce_column(j, square, 0)); }),
           Array{{}, {0}}}};
}

/// The index of the largest of `count` elements with stride `step`.
double index_of_largest(int64_t start, int64_t step, int64_t count) {
  int64_t best = 0;
  for (int64_t k = 1; k < count; ++k)
    if (matrix()[start + k * step] > matrix()[start + best * step]) best = k;
  return double(best);
}

LargeCase extremes(ScalarType dtype) {
  const Tensor a = matrix().tensor(dtype);
  return {[=] {
            return Tensors{a.argmax(), a.argmax(0), a.argmax(1), std::get<1>(a.max(0)),
                           std::get<1>(a.max(1))};
          },
          {Array{{}, {index_of_largest(0, 1, kCount)}},
           list(kColumns, [&](int64_t j) { return index_of_largest(j, kColumns, kRows); }),
           list(kRows, [&](int64_t i) { return index_of_largest(i * kColumns, 1, kColumns); }),
           list(kColumns, [&](int64_t j) { return index_of_largest(j, kColumns, kRows); }),
           list(kRows, [&](int64_t i) { return index_of_largest(i * kColumns, 1, kColumns); })}};
}

LargeCase products(ScalarType dtype) {
  constexpr int64_t n = 131, k = 517, m = 67;
  const Large a = large({n, k}, 4, false), b = large({k, m}, 5, false);
  const Tensor x = a.tensor(dtype), y = b.tensor(dtype);
  const Array product = table(n, m, [&](int64_t i, int64_t j) {
    double sum = 0;
    for (int64_t c = 0; c < k; ++c) sum += a[i * k + c] * b[c * m + j];
    return sum;
  });
  Array batch_of_two{{2, n, m}, product.values};
  batch_of_two.values.insert(batch_of_two.values.end(), product.values.begin(),
                             product.values.end());
  return {[=] {
            return Tensors{x.mm(y), y.t().contiguous().t().t().mm(x.t()).t(),
                           stack({x, x}).bmm(stack({y, y}))};
          },
          {product, product, batch_of_two}};
}

LargeCase joined(ScalarType dtype) {
  const Tensor a = matrix().tensor(dtype), b = other().tensor(dtype);
  return {[=] {
            return Tensors{cat({a, b, a}, 1), cat({a.t(), b.t()}), cat(a.split(1))};
          },
          {table(kRows, 3 * kColumns,
                 [&](int64_t i, int64_t j) {
                   const Large& from = j / kColumns == 1 ? other() : matrix();
                   return from[i * kColumns + j % kColumns];
                 }),
           table(2 * kColumns, kRows,
                 [&](int64_t i, int64_t j) {
                   const Large& from = i < kColumns ? matrix() : other();
                   return from[j * kColumns + i % kColumns];
                 }),
           Array{{kRows, kColumns}, matrix().values}}};
}

LargeCase gathered(ScalarType dtype) {
  const Large index = large_indices({kRows, kColumns}, kRows, 6);
  const Tensor a = matrix().tensor(dtype), i = index.tensor(kLong);
  Array sums{{kRows, kColumns}, Numbers(size_t(kCount), 0)};
  for (int64_t e = 0; e < kCount; ++e)
    sums.values[size_t(int64_t(index[e]) * kColumns + e % kColumns)] += matrix()[e];
  return {[=] {
            return Tensors{a.gather(0, i), zeros_like(a).scatter_add(0, i, a)};
          },
          {table(kRows, kColumns,
                 [&](int64_t r, int64_t c) {
                   return matrix()[int64_t(index[r * kColumns + c]) * kColumns + c];
                 }),
           sums}};
}

LargeCase indexed(ScalarType dtype) {
  constexpr int64_t n = 5003;
  const Large index = large_indices({n}, kRows, 7), added = large({n, kColumns / 13}, 8);
  constexpr int64_t width = kColumns / 13;
  const Tensor a = matrix().tensor(dtype).narrow(1, 0, width).contiguous();
  const Tensor i = index.tensor(kLong), added_values = added.tensor(dtype);
  Array sums =
      table(kRows, width, [&](int64_t r, int64_t c) { return matrix()[r * kColumns + c]; });
  for (int64_t r = 0; r < n; ++r)
    for (int64_t c = 0; c < width; ++c)
      sums.values[size_t(int64_t(index[r]) * width + c)] += added[r * width + c];
  return {[=] {
            return Tensors{a.index({i}), a.clone().index_put_({i}, added_values, true)};
          },
          {table(n, width,
                 [&](int64_t r, int64_t c) { return matrix()[int64_t(index[r]) * kColumns + c]; }),
           sums}};
}

LargeCase nonzeros(ScalarType dtype) {
  const Tensor a = matrix().tensor(dtype).gt(0.5);
  Array positions{{0, 2}, {}};
  for (int64_t e = 0; e < kCount; ++e)
    if (matrix()[e] > 0.5) {
      positions.values.push_back(double(e / kColumns));
      positions.values.push_back(double(e % kColumns));
      ++positions.sizes[0];
    }
  return {[=] { return Tensors{a.nonzero()}; }, {positions}};
}

LargeCase ranges_and_triangles(ScalarType dtype) {
  const Tensor a = matrix().tensor(dtype);
  return {[=] {
            return Tensors{arange(0, kCount, dtype), linspace(0, 1, kCount + 1, dtype), a.tril(3),
                           a.triu(-2)};
          },
          {list(kCount, [](int64_t i) { return double(i); }),
           list(kCount + 1, [](int64_t i) { return double(i) / kCount; }),
           table(kRows, kColumns,
                 [&](int64_t i, int64_t j) { return j - i <= 3 ? matrix()[i * kColumns + j] : 0; }),
           table(kRows, kColumns, [&](int64_t i, int64_t j) {
             return j - i >= -2 ? matrix()[i * kColumns + j] : 0;
           })}};
}

LargeCase scans(ScalarType dtype) {
  const Tensor a = matrix().tensor(dtype);
  Array column_sums{{kRows, kColumns}, matrix().values}, row_sums = column_sums,
                                                         maximum = column_sums;
  for (int64_t e = kColumns; e < kCount; ++e)
    column_sums.values[size_t(e)] += column_sums.values[size_t(e - kColumns)];
  for (int64_t e = 0; e < kCount; ++e) {
    if (e % kColumns == 0) continue;
    row_sums.values[size_t(e)] += row_sums.values[size_t(e - 1)];
    maximum.values[size_t(e)] = std::max(maximum.values[size_t(e)], maximum.values[size_t(e - 1)]);
  }
  Array flat{{kCount}, matrix().values};
  std::partial_sum(flat.values.begin(), flat.values.end(), flat.values.begin());
  return {
      [=] {
        return Tensors{a.cumsum(0), a.cumsum(1), std::get<0>(a.cummax(1)), a.flatten().cumsum(0)};
      },
      {column_sums, row_sums, maximum, flat}};
}

LargeCase ordered(ScalarType dtype) {
  const Tensor a = matrix().tensor(dtype);
  Array rows{{kRows, kColumns}, matrix().values}, flat{{kCount}, matrix().values};
  for (int64_t i = 0; i < kRows; ++i)
    std::sort(rows.values.begin() + i * kColumns, rows.values.begin() + (i + 1) * kColumns);
  std::sort(flat.values.begin(), flat.values.end());
  const Numbers sorted = flat.values;
  return {
      [=] {
        return Tensors{std::get<0>(a.sort(1)), std::get<0>(a.flatten().sort(0)),
                       std::get<0>(a.kthvalue(5, 1)), a.median(),
                       searchsorted(std::get<0>(a.flatten().sort(0)), a)};
      },
      {rows, flat, list(kRows, [&](int64_t i) { return rows.values[size_t(i * kColumns + 4)]; }),
       Array{{}, {sorted[size_t((kCount - 1) / 2)]}},
       table(kRows, kColumns, [&](int64_t i, int64_t j) {
         const double v = matrix()[i * kColumns + j];
         return double(std::lower_bound(sorted.begin(), sorted.end(), v) - sorted.begin());
       })}};
}

/// Random numbers have no reference; the mean of the uniform ones shows that no chunk is missing.
LargeCase random_numbers(ScalarType dtype) {
  return {[=] {
            manual_seed(11);
            const Tensor uniform = rand({kRows, kColumns}, dtype);
            return Tensors{uniform.mean().mul(50).round(),
                           uniform,
                           randn({kCount}, dtype),
                           randperm(kCount),
                           uniform.bernoulli(),
                           dropout(ones({kRows, kColumns}, dtype), 0.3, true)};
          },
          {Array{{}, {25}}}};
}

const RegisterLarge registered_large_rows[] = {
    RegisterLarge({"pointwise", {"Pointwise"}, pointwise}),
    RegisterLarge({"reductions", {"Reduce"}, reductions}),
    RegisterLarge({"extremes", {"MinMaxDim"}, extremes}),
    RegisterLarge({"products", {"Matmul"}, products}),
    RegisterLarge({"joined", {"Cat"}, joined, 0}),
    RegisterLarge({"gathered", {"Gather", "Scatter"}, gathered}),
    RegisterLarge({"indexed", {"Index", "IndexPut"}, indexed}),
    RegisterLarge({"nonzeros", {"NonzeroCount", "NonzeroFill"}, nonzeros}),
    RegisterLarge({"ranges_and_triangles", {"Range", "Triangle"}, ranges_and_triangles}),
    RegisterLarge({"scans", {"Scan"}, scans, 40}),
    RegisterLarge({"ordered", {"Order", "Search"}, ordered}),
    RegisterLarge({"random_numbers", {"Random", "Dropout"}, random_numbers})};

}  // namespace
}  // namespace hearth::testing
