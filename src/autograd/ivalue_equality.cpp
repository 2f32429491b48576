#include <algorithm>

#include "core/ivalue_variant.h"

namespace hearth {

namespace {

using detail::DictContent;
using detail::DictPtr;
using detail::ListPtr;
using detail::TuplePtr;

constexpr int kMaxCompareDepth = 1000;

bool are_equal(const IValue& a, const IValue& b, int depth);

/// Like are_equal, but a tensor or tuple in a container is equal to itself whatever its elements
/// are.
bool are_equal_parts(const IValue& a, const IValue& b, int depth) {
  if (a.isTensor() && b.isTensor() && a.toTensor().is_same(b.toTensor())) return true;
  if (a.isTuple() && b.isTuple() && a.toTuple() == b.toTuple()) return true;
  return are_equal(a, b, depth + 1);
}

bool are_equal_parts(const std::vector<IValue>& a, const std::vector<IValue>& b, int depth) {
  return std::equal(
      a.begin(), a.end(), b.begin(), b.end(),
      [depth](const IValue& x, const IValue& y) { return are_equal_parts(x, y, depth); });
}

/// Compares bools, numbers, strings and other values without parts.
template <class T>
bool are_equal_contents(const T& a, const T& b, int) {
  return a == b;
}
bool are_equal_contents(const Tensor& a, const Tensor& b, int) { return a.eq(b).is_nonzero(); }
bool are_equal_contents(const ListPtr& a, const ListPtr& b, int depth) {
  return a == b || (a->kind == b->kind && are_equal_parts(a->values, b->values, depth));
}
bool are_equal_contents(const TuplePtr& a, const TuplePtr& b, int depth) {
  return are_equal_parts(a->elements(), b->elements(), depth);
}
bool are_equal_contents(const DictPtr& a, const DictPtr& b, int depth) {
  if (a == b) return true;
  return a->items().size() == b->items().size() &&
         std::all_of(a->items().begin(), a->items().end(), [&](const DictContent::Item& item) {
           const DictContent::Item* other = b->find(item.first);
           return other && are_equal_parts(item.second, other->second, depth);
         });
}

bool are_equal(const IValue& a, const IValue& b, int depth) {
  HEARTH_CHECK(depth <= kMaxCompareDepth, "cannot compare values that are nested deeper than ",
               kMaxCompareDepth, " levels, or contain themselves");
  return std::visit(
      [&]<class T>(const T& content) {
        const T* other = std::get_if<T>(&detail::IValueAccess::variant(b));
        return other && are_equal_contents(content, *other, depth);
      },
      detail::IValueAccess::variant(a));
}

}  // namespace

bool operator==(const IValue& a, const IValue& b) { return are_equal(a, b, 0); }

IValue IValue::equals(const IValue& other) const {
  const bool both = isTensor() && other.isTensor();
  return both ? IValue(toTensor().eq(other.toTensor()))
              : IValue(!isTensor() && !other.isTensor() && *this == other);
}

bool IValue::is(const IValue& other) const {
  const auto& variant = detail::IValueAccess::variant(*this);
  const auto& others = detail::IValueAccess::variant(other);
  if (variant.index() != others.index()) return false;
  if (isTensor()) return toTensor().is_same(other.toTensor());
  if (const auto* list = std::get_if<ListPtr>(&variant)) return *list == std::get<ListPtr>(others);
  if (const auto* dict = std::get_if<DictPtr>(&variant)) return *dict == std::get<DictPtr>(others);
  if (const auto* tuple = std::get_if<TuplePtr>(&variant))
    return *tuple == std::get<TuplePtr>(others);
  return *this == other;
}

SmallVector<int64_t, 5> IValue::toDimVector() const {
  return SmallVector<int64_t, 5>(toIntVector());
}

}  // namespace hearth
