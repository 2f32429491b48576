#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "hearth/export.h"
#include "hearth/fwd.h"
#include "hearth/tensor.h"

namespace hearth::indexing {

inline constexpr int64_t INDEX_MIN = -(int64_t{1} << 62);  ///< a bound of an open-ended Slice
inline constexpr int64_t INDEX_MAX = -(INDEX_MIN + 1);     ///< a bound of an open-ended Slice

struct EllipsisIndexType {};                          ///< the type of Ellipsis
inline constexpr EllipsisIndexType Ellipsis{};        ///< Python's ..., as many full slices as fit
inline constexpr std::nullopt_t None = std::nullopt;  ///< Python's None, a new dimension of size 1

/// Python's start:stop:step; each part is optional.
struct Slice {
  HEARTH_API Slice(std::optional<int64_t> start = {}, std::optional<int64_t> stop = {},
                   std::optional<int64_t> step = {});
  int64_t start() const { return start_; }
  int64_t stop() const { return stop_; }
  int64_t step() const { return step_; }

 private:
  int64_t start_, stop_, step_;
};
HEARTH_API std::string as_text(const Slice& slice);  ///< "1:2:3"
HEARTH_API std::ostream& operator<<(std::ostream& stream, const Slice& slice);

/// One index of t.index({...}): None, "...", a bool, an integer, a Slice or a Tensor.
struct TensorIndex {
  enum class Kind { kNone, kEllipsis, kInteger, kBoolean, kSlice, kTensor };
  TensorIndex(std::nullopt_t) : kind_(Kind::kNone) {}
  TensorIndex(EllipsisIndexType) : kind_(Kind::kEllipsis) {}
  HEARTH_API TensorIndex(const char* text);
  TensorIndex(int64_t value) : kind_(Kind::kInteger), integer_(value) {}
  TensorIndex(int value) : TensorIndex(static_cast<int64_t>(value)) {}
  template <class T>
  requires std::is_same_v<T, bool> TensorIndex(T value) : kind_(Kind::kBoolean), integer_(value) {}
  TensorIndex(Slice slice) : kind_(Kind::kSlice), slice_(slice) {}
  TensorIndex(Tensor tensor) : kind_(Kind::kTensor), tensor_(std::move(tensor)) {}

  Kind kind() const { return kind_; }
  bool is_none() const { return kind_ == Kind::kNone; }
  bool is_ellipsis() const { return kind_ == Kind::kEllipsis; }
  bool is_integer() const { return kind_ == Kind::kInteger; }
  bool is_boolean() const { return kind_ == Kind::kBoolean; }
  bool is_slice() const { return kind_ == Kind::kSlice; }
  bool is_tensor() const { return kind_ == Kind::kTensor; }
  int64_t integer() const { return integer_; }
  bool boolean() const { return integer_ != 0; }
  const Slice& slice() const { return slice_; }
  const Tensor& tensor() const { return tensor_; }

 private:
  Kind kind_;
  int64_t integer_ = 0;
  Slice slice_;
  Tensor tensor_;
};
HEARTH_API std::string as_text(const TensorIndex& index);
HEARTH_API std::string as_text(const std::vector<TensorIndex>& indices);  ///< "(None, 0, 1:2:3)"
HEARTH_API std::ostream& operator<<(std::ostream& stream, const TensorIndex& index);
HEARTH_API std::ostream& operator<<(std::ostream& stream, const std::vector<TensorIndex>& indices);

}  // namespace hearth::indexing
