#pragma once

// Matrices packed for products with few rows at a time, in panels of adjacent columns; the threads
// divide the packing, which is bound by memory. A TransposedProduct's task is 96 rows of the
// result, 256 terms at a time, so that a panel stays in the cache; it is bound by the
// multiplications.

#include <algorithm>

#include "core/parallel_for.h"
#include "kernels/cpu/isa_table.h"
#include "kernels/cpu/recurrence_kernels.h"
#include "seam/ctx.h"

namespace hearth::cpu {

template <class T>
const RecurrenceLoops& recurrence_loops() {
  return loops_for<T>(HEARTH_ISA_TABLE(recurrence_table));
}

/// A matrix of `terms` rows and `groups` groups of `columns` columns each, packed in panels: blocks
/// of adjacent columns of one group.
template <class T>
class Panels {
 public:
  Panels() = default;
  /// Packs groups of columns: element (term, column) of group g is
  /// `data[(g * columns + column) * column_step + term * term_step]`.
  static Panels strided(const T* data, int64_t groups, int64_t columns, int64_t column_step,
                        int64_t terms, int64_t term_step, Ctx& ctx) {
    Panels panels(groups, columns, terms, ctx);
    panels.fill([=, width = panels.width_](const Piece& piece, T* to) {
      const T* const from =
          data + (piece.group * columns + piece.start) * column_step + piece.first * term_step;
      // The inner loop is over adjacent elements.
      if (column_step == 1)
        for (int64_t k = 0; k < piece.terms; ++k)
          std::copy_n(from + k * term_step, piece.count, to + k * width);
      else
        for (int64_t j = 0; j < piece.count; ++j)
          for (int64_t k = 0; k < piece.terms; ++k)
            to[k * width + j] = from[j * column_step + k * term_step];
    });
    return panels;
  }
  /// Packs a single group whose row k starts at row(k).
  template <class Row>
  static Panels of_rows(int64_t columns, int64_t terms, Ctx& ctx, const Row& row) {
    Panels panels(1, columns, terms, ctx);
    panels.fill([&row, width = panels.width_](const Piece& piece, T* to) {
      for (int64_t k = 0; k < piece.terms; ++k)
        std::copy_n(row(piece.first + k) + piece.start, piece.count, to + k * width);
    });
    return panels;
  }

  int64_t terms() const { return terms_; }
  int64_t blocks() const { return blocks_; }  ///< in each group
  /// The first column of a block, which is also the end of the block before it.
  int64_t column(int64_t block) const { return std::min(columns_, block * width_); }

  /// out = a @ the columns of a group's block or, with `add`, out += that product. The rows of a
  /// are contiguous; `out` points to the first of the columns.
  void multiply(const T* a, int64_t rows, int64_t ld, int64_t group, int64_t block, T* out,
                int64_t ld_out, bool add) const {
    multiply({a, ld, 1, nullptr, terms_, out, ld_out, 0, add}, rows, group, block, 0);
  }
  /// Sets the panel and its columns in `factors`, and computes the product of `factors.terms`
  /// terms, of which `first` is the first.
  void multiply(PanelFactors factors, int64_t rows, int64_t group, int64_t block,
                int64_t first) const {
    factors.panel = panels_ + ((group * blocks_ + block) * terms_ + first) * width_;
    factors.out_columns = column(block + 1) - column(block);
    loops_->multiply(factors, rows);
  }

 private:
  Panels(int64_t groups, int64_t columns, int64_t terms, Ctx& ctx)
      : groups_(groups),
        columns_(columns),
        terms_(terms),
        blocks_((columns + width_ - 1) / width_),
        panels_(
            static_cast<T*>(ctx.scratch(size_t(groups * blocks_ * terms * width_) * sizeof(T)))) {}

  /// Some adjacent terms of a panel, of `count` columns from `start` on.
  struct Piece {
    int64_t group, start, count, first, terms;
  };

  /// Calls f(piece, to) for all pieces of the panels, which writes a row of width_ elements for
  /// each term; the elements beyond the columns become 0.
  template <class F>
  void fill(const F& f) const {
    constexpr int64_t kGrain = 1 << 14;  // elements that are worth another thread
    constexpr int64_t kTerms = 16;       // of a piece: a cache line of a transposed matrix
    const int64_t pieces = (terms_ + kTerms - 1) / kTerms;
    parallel_for(0, groups_ * blocks_ * pieces, kGrain / (kTerms * width_),
                 [&](int64_t begin, int64_t end) {
                   for (int64_t i = begin; i < end; ++i) {
                     const int64_t panel = i / pieces, first = i % pieces * kTerms;
                     const int64_t start = panel % blocks_ * width_;
                     const Piece piece{panel / blocks_, start, std::min(width_, columns_ - start),
                                       first, std::min(kTerms, terms_ - first)};
                     T* const to = panels_ + (panel * terms_ + first) * width_;
                     if (piece.count < width_) std::fill_n(to, piece.terms * width_, T(0));
                     f(piece, to);
                   }
                 });
  }

  const RecurrenceLoops* loops_ = &recurrence_loops<T>();
  int64_t width_ = loops_->columns;
  int64_t groups_ = 0, columns_ = 0, terms_ = 0, blocks_ = 0;
  T* panels_ = nullptr;
};

/// out = a^T @ b, where a is `[b->terms(), out_rows]`.
template <class T>
struct TransposedProduct {
  static constexpr int64_t kBlockRows = 96;    // of the result, in one task
  static constexpr int64_t kBlockTerms = 256;  // so that a panel stays in the cache

  const T* a;
  int64_t ld, out_rows;
  const Panels<T>* b;
  T* out;
  int64_t ld_out;

  int64_t row_blocks() const { return (out_rows + kBlockRows - 1) / kBlockRows; }
  /// The number of elements of run()'s scratch memory `packed`.
  static constexpr int64_t kScratch = kBlockRows * kBlockTerms;

  /// Computes one block of rows.
  void run(int64_t block, T* packed) const {
    const int64_t start = block * kBlockRows, count = std::min(kBlockRows, out_rows - start);
    for (int64_t first = 0; first < b->terms(); first += kBlockTerms) {
      const int64_t terms = std::min(kBlockTerms, b->terms() - first);
      for (int64_t k = 0; k < terms; ++k)
        std::copy_n(a + (first + k) * ld + start, count, packed + k * kBlockRows);
      for (int64_t j = 0; j < b->blocks(); ++j)
        b->multiply({packed, 1, kBlockRows, nullptr, terms, out + start * ld_out + b->column(j),
                     ld_out, 0, first > 0},
                    count, 0, j, first);
    }
  }
};

}  // namespace hearth::cpu
