#pragma once

#include <optional>

#include "c10/namespaces.h"

namespace c10 {
using std::bad_optional_access;
using std::in_place;
using std::in_place_t;
using std::make_optional;
using std::nullopt;
using std::nullopt_t;
using std::optional;
}  // namespace c10

namespace at {
using std::make_optional;
using std::nullopt;
using std::optional;
}  // namespace at

namespace torch {
using std::make_optional;
using std::nullopt;
using std::optional;
}  // namespace torch
