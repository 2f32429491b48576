#pragma once

// Sorts records of key and index by a stable radix sort, up to 256 records by std::sort. A pass for
// each byte of the key counts and moves the records, in up to 64 chunks that the threads divide;
// passes that would move nothing are skipped. Bound by memory: a pass reads the records twice and
// writes them once, to 256 places. Part of them comes from the caches of other cores: with two
// threads on cores that share no cache, a million floats take 16 ms instead of 6 (with one, 12).

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>

#include "core/parallel_for.h"

namespace hearth::cpu {

/// Lines up to this long are one chunk of a radix pass, so that one thread sorts them.
inline constexpr int64_t kSortChunk = 1 << 16;

/// A key of at most 32 bits and an index below 2^32 in one word.
struct NarrowRecord {
  uint64_t bits;
  NarrowRecord() = default;
  NarrowRecord(uint64_t key, int64_t index) : bits(key << 32 | uint64_t(index)) {}
  uint64_t key() const { return bits >> 32; }
  int64_t index() const { return int64_t(bits & 0xffffffffu); }
  friend bool operator<(NarrowRecord a, NarrowRecord b) { return a.bits < b.bits; }
};

struct WideRecord {
  uint64_t key_;
  int64_t index_;
  WideRecord() = default;
  WideRecord(uint64_t key, int64_t index) : key_(key), index_(index) {}
  uint64_t key() const { return key_; }
  int64_t index() const { return index_; }
  friend bool operator<(WideRecord a, WideRecord b) {
    return a.key_ < b.key_ || (a.key_ == b.key_ && a.index_ < b.index_);
  }
};

/// One stable pass of a radix sort by the key's bits from `shift`, in parallel over chunks.
template <class R>
class RadixPass {
 public:
  static constexpr int kBits = 8, kBuckets = 1 << kBits;
  static constexpr int64_t kMaxChunks = 64;

  RadixPass(const R* from, int64_t n, int shift)
      : from_(from),
        n_(n),
        shift_(shift),
        chunks_(std::min(kMaxChunks, (n + kSortChunk - 1) / kSortChunk)) {}

  /// Counts the records of every bucket. Returns false if one bucket has all records, so that none
  /// needs to move.
  bool count() {
    parallel_blocks(chunks_, [&](int64_t c) {
      std::memset(counts_[c], 0, sizeof counts_[c]);
      for (int64_t i = begin(c); i < begin(c + 1); ++i) ++counts_[c][bucket(from_[i])];
    });
    int64_t position = 0;
    for (int b = 0; b < kBuckets; ++b) {
      const int64_t bucket_begin = position;
      for (int64_t c = 0; c < chunks_; ++c) position += std::exchange(counts_[c][b], position);
      if (position - bucket_begin == n_) return false;
    }
    return true;
  }
  /// Moves the records to their buckets; count() comes first.
  void move(R* to) {
    parallel_blocks(chunks_, [&](int64_t c) {
      for (int64_t i = begin(c); i < begin(c + 1); ++i)
        to[counts_[c][bucket(from_[i])]++] = from_[i];
    });
  }

 private:
  int64_t begin(int64_t chunk) const { return n_ * chunk / chunks_; }
  unsigned bucket(const R& record) const {
    return unsigned(record.key() >> shift_) & (kBuckets - 1);
  }

  const R* from_;
  int64_t n_;
  int shift_;
  int64_t chunks_;
  int64_t counts_[kMaxChunks][kBuckets];  // after count(), the position of the next record
};

/// Sorts n records, given in the order of their indices, by key; returns the array that holds the
/// result, `records` or `spare`.
template <class R>
R* sort_records(R* records, R* spare, int64_t n, int key_bytes) {
  constexpr int64_t kSmall = 256;
  if (n <= kSmall) {
    std::sort(records, records + n);
    return records;
  }
  for (int byte = 0; byte < key_bytes; ++byte) {
    RadixPass<R> pass(records, n, 8 * byte);
    if (!pass.count()) continue;
    pass.move(spare);
    std::swap(records, spare);
  }
  return records;
}

}  // namespace hearth::cpu
