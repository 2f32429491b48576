#pragma once

#include <string_view>

#include "c10/namespaces.h"

namespace c10 {
using std::string_view;
}
