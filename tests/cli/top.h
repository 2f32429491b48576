#pragma once

#include <ctime>
#include <string>

namespace hearth::testing {

/// The content of a status file that was last written a minute ago. `fields` follow "written"; they
/// begin with a comma.
inline std::string left_status(const std::string& fields) {
  return R"({"format":1,"written":)" + std::to_string(std::time(nullptr) - 60) + fields +
         R"(,"ranks":[{"age":0.5,"report":"{\"host\":\"node\",\"step\":7}"}]})";
}

}  // namespace hearth::testing
