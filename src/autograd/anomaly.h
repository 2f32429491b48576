#pragma once

#include "core/modes.h"
#include "hearth/autograd.h"

namespace hearth::autograd {

/// Notes on the node its arguments, which scopes it was recorded in and the call stack.
void remember_forward(Node& node, const Scope* scope, const std::string& arguments = {});
/// Gives `to`, which stands for `from` in the graph, what remember_forward noted on that.
void share_forward(const Node& from, Node& to);
/// Warns with what remember_forward noted: "… Traceback of forward call that caused the error: …".
void explain_failure(Node& node, const std::string& error);
/// "Function 'X' returned nan values in its 0th output." if one of the gradients has a NaN.
void check_no_nan(Node& node, const variable_list& grads);
/// The backward node this thread is running, innermost.
Node* current_node();

}  // namespace hearth::autograd
