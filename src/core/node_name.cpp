#include "core/node_name.h"

#include <cctype>

namespace hearth {

std::string node_name(const OpInfo& info) {
  std::string text = *info.node ? info.node : info.name;
  if (!*info.node) {
    // scatter_add -> ScatterAdd
    std::string camel;
    bool starts_word = true;
    for (char c : text) {
      if (c == '_') {
        starts_word = true;
        continue;
      }
      camel += starts_word ? static_cast<char>(std::toupper(static_cast<unsigned char>(c))) : c;
      starts_word = false;
    }
    text = std::move(camel);
  }
  // A name that contains "Backward" is complete.
  return text.find("Backward") == std::string::npos ? text + "Backward0" : text;
}

}  // namespace hearth
