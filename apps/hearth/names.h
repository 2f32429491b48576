#pragma once

#include <string>
#include <vector>

namespace hearth::app {

/// The known name that takes the fewest edits to get to; empty if none is near.
std::string nearest(const std::string& name, const std::vector<std::string>& known);

/// "unknown model 'seed-cn'; did you mean 'seed-cnn'? (known: mlp, …)"
std::string unknown_name(const std::string& kind, const std::string& name,
                         const std::vector<std::string>& known);

}  // namespace hearth::app
