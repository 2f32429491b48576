#pragma once

#include "core/modes.h"
#include "hearth/autograd.h"

namespace hearth::autograd {

/// Stores in the node its op's arguments, the scopes and the backward node in which it was
/// recorded, and the call stack.
void remember_forward(Node& node, const Scope* scope, const std::string& arguments = {});
/// Copies what remember_forward stored from the node `from` to the node `to`, which replaces it in
/// the graph.
void copy_forward(const Node& from, Node& to);
/// Warns with the stored trace: "… Traceback of forward call that caused the error: …"; without
/// one, warns that there is none.
void explain_failure(Node& node, const std::string& error);
/// Throws "Function 'X' returned nan values in its 0th output." if a gradient has a NaN.
void check_no_nan(Node& node, const variable_list& grads);

}  // namespace hearth::autograd
