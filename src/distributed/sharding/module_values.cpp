#include "distributed/sharding/module_values.h"

#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "hearth/utils/checkpoint.h"

namespace hearth::distributed {

namespace {

template <class T>
bool visit_as(nn::AnyValue& value, const std::function<void(Tensor&)>& visit) {
  T* const typed = value.try_get<T>();
  if (typed)
    utils::detail::visit_tensors(*typed, [&](Tensor& tensor) {
      if (tensor.defined()) visit(tensor);
    });
  return typed != nullptr;
}

template <class... Types>
bool visit_as_any_of(nn::AnyValue& value, const std::function<void(Tensor&)>& visit) {
  return (visit_as<Types>(value, visit) || ...);
}

using Pair = std::tuple<Tensor, Tensor>;

}  // namespace

bool visit_module_tensors(nn::AnyValue& value, const std::function<void(Tensor&)>& visit) {
  return visit_as_any_of<Tensor, std::optional<Tensor>, std::vector<Tensor>, Pair,
                         std::tuple<Tensor, Tensor, Tensor>, std::tuple<Tensor, Pair>,
                         std::tuple<Tensor, std::optional<Tensor>>, std::pair<Tensor, Tensor>,
                         std::optional<Pair>, OrderedDict<std::string, Tensor>, IValue>(value,
                                                                                        visit);
}

}  // namespace hearth::distributed
