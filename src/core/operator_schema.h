#pragma once

#include <string>

namespace hearth {

/// What a schema such as "my::twice.out(Tensor x) -> Tensor" declares, or its name alone.
struct OperatorDeclaration {
  std::string name_space, name, overload_name;  // the first and the last may be empty
  std::string signature;                        // "(Tensor x) -> Tensor"; empty for a name
};

/// Parses a schema or a name; throws LibTorch's errors.
OperatorDeclaration parse_declaration(const std::string& text);

}  // namespace hearth
