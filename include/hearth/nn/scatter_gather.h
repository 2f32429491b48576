#pragma once

#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "hearth/error.h"
#include "hearth/tensor.h"

// Splitting of arguments among devices, and joining of the devices' results. Autograd records both,
// so gradients return to the devices of the arguments.
namespace hearth::nn::parallel {

/// Chunks of the tensor along `dim`, chunk i on device i. Without chunk_sizes, they are those of
/// chunk(): at most one per device, and the last may be smaller.
HEARTH_API std::vector<Tensor> scatter(
    const Tensor& input, const std::vector<Device>& devices,
    const std::optional<std::vector<int64_t>>& chunk_sizes = std::nullopt, int64_t dim = 0);

/// The tensors, moved to `target_device` and joined along `dim`; undefined if all are undefined.
/// 0-d tensors become a vector, with a warning.
HEARTH_API Tensor gather(const std::vector<Tensor>& tensors, Device target_device, int64_t dim = 0);

namespace detail {

/// Divides the tensors in the arguments of one call among devices. The first tensor determines the
/// number of parts; it is an error if another one gives another number.
class HEARTH_API Split {
 public:
  Split(std::vector<Device> devices, int64_t dim) : devices_(std::move(devices)), dim_(dim) {}
  void count_parts(const Tensor& tensor);                 ///< for each tensor, before part()
  Tensor part(const Tensor& tensor, size_t index) const;  ///< on devices[index]
  /// The number of parts of each tensor; the number of devices if no argument is a tensor.
  size_t parts() const { return parts_.value_or(devices_.size()); }

 private:
  std::vector<Device> devices_;
  int64_t dim_;
  std::optional<size_t> parts_;
};

template <class T>
concept MapLike = requires {
  typename T::key_type;
  typename T::mapped_type;
};
template <class T>
inline constexpr bool is_list = false;
template <class T>
inline constexpr bool is_list<std::vector<T>> = !std::is_same_v<T, bool>;
template <class T>
inline constexpr bool is_optional = false;
template <class T>
inline constexpr bool is_optional<std::optional<T>> = true;
template <class T>
concept TupleLike = requires {
  std::tuple_size<T>::value;
};

/// Calls `visit` for each defined tensor in a value: a tensor, or a list, tuple, map or optional of
/// values.
template <class T, class Visit>
void each_tensor(const T& value, const Visit& visit) {
  if constexpr (std::is_same_v<T, Tensor>) {
    if (value.defined()) visit(value);
  } else if constexpr (is_list<T>) {
    for (const auto& item : value) each_tensor(item, visit);
  } else if constexpr (MapLike<T>) {
    for (const auto& [key, item] : value) each_tensor(item, visit);
  } else if constexpr (is_optional<T>) {
    if (value) each_tensor(*value, visit);
  } else if constexpr (TupleLike<T>) {
    std::apply([&](const auto&... item) { (each_tensor(item, visit), ...); }, value);
  }
}

/// A copy of the value in which each defined tensor is replaced by `change(tensor)`.
template <class T, class Change>
T with_tensors(const T& value, const Change& change) {
  T result = value;
  if constexpr (std::is_same_v<T, Tensor>) {
    if (value.defined()) result = change(value);
  } else if constexpr (is_list<T>) {
    for (auto& item : result) item = with_tensors(item, change);
  } else if constexpr (MapLike<T>) {
    for (auto& [key, item] : result) item = with_tensors(item, change);
  } else if constexpr (is_optional<T>) {
    if (value) result = with_tensors(*value, change);
  } else if constexpr (TupleLike<T>) {
    std::apply([&](auto&... item) { ((item = with_tensors(item, change)), ...); }, result);
  }
  return result;
}

/// The values that `select` finds in each part.
template <class T, class Select>
auto selected(const std::vector<T>& parts, const Select& select) {
  std::vector<std::decay_t<decltype(select(parts[0]))>> values;
  values.reserve(parts.size());
  for (const T& part : parts) values.push_back(select(part));
  return values;
}

}  // namespace detail

/// Joins the devices' results: tensors, or lists, tuples, maps and optionals of them.
template <class T>
T gather(const std::vector<T>& parts, Device target_device, int64_t dim = 0) {
  const auto join = [&](const auto& select) {
    return gather(detail::selected(parts, select), target_device, dim);
  };
  HEARTH_CHECK(!parts.empty(), "Expected at least one result to gather from");
  T result = parts.front();
  if constexpr (detail::is_list<T>) {
    for (const T& part : parts)
      HEARTH_CHECK_AS(ValueError, part.size() == result.size(),
                      "The devices returned lists of different lengths: ", result.size(), " and ",
                      part.size());
    for (size_t i = 0; i < result.size(); ++i)
      result[i] = join([i](const T& part) { return part[i]; });
  } else if constexpr (detail::MapLike<T>) {
    for (const T& part : parts)
      HEARTH_CHECK_AS(ValueError, part.size() == result.size(),
                      "All dicts must have the same number of keys");
    for (auto& entry : result)
      entry.second = join([&](const T& part) { return part.at(entry.first); });
  } else if constexpr (detail::is_optional<T>) {
    for (const T& part : parts)
      HEARTH_CHECK_AS(ValueError, part.has_value() == result.has_value(),
                      "Some devices returned a value and others none");
    if (result) result = join([](const T& part) { return *part; });
  } else {
    static_assert(
        detail::TupleLike<T>,
        "Only tensors, and lists, tuples, maps and optionals of tensors, can be gathered");
    [&]<size_t... I>(std::index_sequence<I...>) {
      ((std::get<I>(result) = join([](const T& part) { return std::get<I>(part); })), ...);
    }
    (std::make_index_sequence<std::tuple_size_v<T>>{});
  }
  return result;
}

/// The parts of a list, tuple, map or optional of tensors; other values are copied for each part.
template <class T>
requires(!std::is_base_of_v<Tensor, T>) std::vector<T> scatter(const T& value,
                                                               const std::vector<Device>& devices,
                                                               int64_t dim = 0) {
  detail::Split split(devices, dim);
  detail::each_tensor(value, [&](const Tensor& tensor) { split.count_parts(tensor); });
  std::vector<T> parts;
  for (size_t i = 0; i < split.parts(); ++i)
    parts.push_back(
        detail::with_tensors(value, [&](const Tensor& tensor) { return split.part(tensor, i); }));
  return parts;
}

}  // namespace hearth::nn::parallel
