#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "hearth/ivalue.h"

namespace hearth::serialize {

/// Converts a value to JSON: None, bools, integers, finite numbers and strings as such, all other
/// values as objects {type: value}. `store` stores a tensor in the file and returns its name there.
nlohmann::json json_of(const IValue& value, const std::function<std::string(const Tensor&)>& store);

/// The inverse of json_of; nullopt if the JSON represents no value. All tensors in the result are
/// undefined. The names of the tensors in the file are appended to `tensors` in the order of
/// utils::detail::visit_ivalue, with an empty name for a tensor that was undefined.
std::optional<IValue> value_of(const nlohmann::json& value, std::vector<std::string>& tensors);

/// Returns nullopt unless the JSON is an array of integers that fit int64.
std::optional<std::vector<int64_t>> ints_of(const nlohmann::json& value);

}  // namespace hearth::serialize
