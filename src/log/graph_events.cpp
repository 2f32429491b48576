#include <unordered_map>

#include "log/events.h"

namespace hearth::utils::tensorboard::detail {

namespace {

constexpr int kGraphDef = 4, kTaggedRunMetadata = 8;  // of Event

/// Names of TensorBoard's nodes, which must be distinct.
class NodeNames {
 public:
  std::string add(const std::string& scope, const std::string& name) {
    const std::string full = scope.empty() ? name : scope + "/" + name;
    std::string distinct = full;
    while (!last_numbers_.emplace(distinct, 0).second)
      distinct = hearth::detail::str(full, "_", ++last_numbers_[full]);
    return distinct;
  }

 private:
  std::unordered_map<std::string, int> last_numbers_;  // appended to each name
};

/// "weight" of "conv1.weight".
std::string last_part(const std::string& path) { return path.substr(path.rfind('.') + 1); }

/// A NodeDef: name, op, the names of its inputs, and attributes that TensorBoard shows.
Message node_message(const std::string& name, const std::string& op,
                     const std::vector<std::string>& inputs, const std::string& arguments,
                     const std::vector<const GraphValue*>& outputs) {
  Message node;
  node.bytes(1, name).bytes(2, op);
  for (const std::string& input : inputs) node.bytes(3, input);
  const auto add_attribute = [&](const char* key, const Message& value) {
    node.message(5, Message().bytes(1, key).message(2, value));
  };
  if (!arguments.empty()) add_attribute("attr", Message().bytes(2, arguments));
  Message shapes;
  for (const GraphValue* value : outputs) shapes.message(7, shape_message(value->sizes));
  if (!outputs.empty()) add_attribute("_output_shapes", Message().message(1, shapes));
  return node;
}

/// Builds a GraphDef.
class GraphDef {
 public:
  explicit GraphDef(const Graph& graph) : graph_(graph), names_of_values_(graph.values.size()) {
    for (size_t i = 0; i < graph.values.size(); ++i)
      if (graph.values[i].kind != GraphValue::Kind::Result) add_source(i);
    for (const GraphNode& node : graph.nodes) add_node(node);
    for (size_t i = 0; i < graph.outputs.size(); ++i) {
      const size_t value = graph.outputs[i];
      def_.message(
          1, node_message(names_.add("output", hearth::detail::str("output.", i + 1)), "IO Node",
                          {names_of_values_[value]}, "", {&graph.values[value]}));
    }
    constexpr int64_t kProducer = 22;  // the version that PyTorch writes
    def_.message(4, Message().integer(1, kProducer));
  }
  const std::string& str() const { return def_.str(); }

 private:
  void add_source(size_t number) {
    const GraphValue& value = graph_.values[number];
    const bool is_input = value.kind == GraphValue::Kind::Input;
    const char* op = is_input                                    ? "IO Node"
                     : value.kind == GraphValue::Kind::Parameter ? "Parameter"
                                                                 : "Constant";
    names_of_values_[number] =
        is_input ? names_.add("input", value.name) : names_.add(value.scope, last_part(value.name));
    def_.message(1, node_message(names_of_values_[number], op, {}, "", {&value}));
  }
  void add_node(const GraphNode& node) {
    std::vector<std::string> inputs;
    for (const size_t number : node.inputs) inputs.push_back(names_of_values_[number]);
    std::vector<const GraphValue*> outputs;
    const std::string name = names_.add(node.scope, node.op);
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      const size_t number = node.outputs[i];
      names_of_values_[number] = i == 0 ? name : hearth::detail::str(name, ":", i);
      outputs.push_back(&graph_.values[number]);
    }
    def_.message(1, node_message(name, node.op, inputs, node.arguments, outputs));
  }

  const Graph& graph_;
  NodeNames names_;
  std::vector<std::string> names_of_values_;
  Message def_;
};

}  // namespace

std::vector<std::string> graph_events(const Graph& traced) {
  const Stamp stamp({}, {});
  const Message device = Message().bytes(1, "/device:CPU:0");  // TensorBoard requires one
  const Message run_metadata = Message().message(1, Message().message(1, device));
  const Message tagged_metadata = Message().bytes(1, "step1").bytes(2, run_metadata.str());
  return {event_of(stamp).bytes(kGraphDef, GraphDef(traced).str()).str(),
          event_of(stamp).message(kTaggedRunMetadata, tagged_metadata).str()};
}

}  // namespace hearth::utils::tensorboard::detail
