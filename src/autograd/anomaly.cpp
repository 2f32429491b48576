#include "autograd/anomaly.h"

#include <dlfcn.h>
#include <execinfo.h>

#include "autograd/engine.h"
#include "autograd/node.h"
#include "hearth/demangle.h"

namespace hearth::autograd {

namespace {

std::string describe_frame(void* address) {
  Dl_info info;
  if (!dladdr(address, &info) || !info.dli_sname)
    return detail::str("  at ", info.dli_fname ? info.dli_fname : "?");
  return "  at " + demangle(info.dli_sname);
}

}  // namespace

void remember_forward(Node& node, const Scope* scope, const std::string& arguments) {
  std::string trace;
  if (!arguments.empty()) trace += detail::str("  with ", arguments, "\n");
  for (; scope; scope = scope->outer) trace += detail::str("  in ", scope->name, "\n");
  constexpr int kMaxFrames = 32;
  void* frames[kMaxFrames];
  const int num_frames = backtrace(frames, kMaxFrames);
  // Frame 0 is this function's own.
  for (int i = 1; i < num_frames; ++i) trace += describe_frame(frames[i]) + '\n';
  NodeState& state = NodeAccess::state(node);
  state.forward_trace = std::move(trace);
  if (Node* running = current_node()) state.recorded_by = NodePtr::share(running);
}

void copy_forward(const Node& from, Node& to) {
  const NodeState* source = NodeAccess::state_if_any(from);
  if (!source || source->forward_trace.empty()) return;
  NodeState& state = NodeAccess::state(to);
  state.forward_trace = source->forward_trace;
  state.recorded_by = source->recorded_by;
}

void explain_failure(Node& node, const std::string& error) {
  const NodeState* state = NodeAccess::state_if_any(node);
  if (!state || state->forward_trace.empty()) {
    warn(detail::str("Error detected in ", node.name(),
                     ". No forward pass information available. Enable detect anomaly during "
                     "forward pass for more "
                     "information. (",
                     error, ")"));
    return;
  }
  warn(detail::str("Error detected in ", node.name(),
                   ". Traceback of forward call that caused the error:\n", state->forward_trace));
  for (NodePtr recorder = state->recorded_by; recorder;) {
    const NodeState* outer = NodeAccess::state_if_any(*recorder);
    warn(detail::str("Previous calculation was induced by ", recorder->name(),
                     ". Traceback of forward call that induced the previous calculation:\n",
                     outer ? outer->forward_trace : std::string("  (not recorded)\n")));
    recorder = outer ? outer->recorded_by : NodePtr();
  }
}

void check_no_nan(Node& node, const variable_list& grads) {
  const AutoGradMode off(false);
  for (size_t i = 0; i < grads.size(); ++i)
    if (grads[i].defined() && is_differentiable(grads[i].scalar_type()))
      HEARTH_CHECK(!grads[i].isnan().any().item<bool>(), "Function '", node.name(),
                   "' returned nan values in its ", i, "th output.");
}

}  // namespace hearth::autograd
