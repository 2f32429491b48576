#include "hearth/nn/summary.h"

#include <algorithm>
#include <array>
#include <ostream>
#include <set>
#include <string_view>

namespace hearth::nn {

namespace {

int64_t count_of(const std::vector<int64_t>& sizes) {
  int64_t count = 1;
  for (const int64_t size : sizes) count *= size;
  return count;
}

/// Whether the scope belongs to the module or to one of its submodules.
bool is_inside(std::string_view scope, std::string_view module) {
  return scope.starts_with(module) &&
         (scope.size() == module.size() || scope[module.size()] == '/');
}

LayerSummary summary_of(const hearth::utils::GraphModule& module,
                        const hearth::utils::Graph& graph) {
  LayerSummary layer;
  layer.path = module.path;
  layer.type = module.type;
  for (const hearth::utils::GraphNode& node : graph.nodes) {
    if (!is_inside(node.scope, module.scope)) continue;
    if (node.scope == module.scope) layer.multiply_adds += node.multiply_adds;
    if (node.outputs.empty()) continue;
    const hearth::utils::GraphValue& value = graph.values[node.outputs[0]];
    layer.output = value.sizes;
    layer.output_bytes = count_of(value.sizes) * static_cast<int64_t>(element_size(value.dtype));
  }
  return layer;
}

/// 1234567 as "1,234,567".
std::string with_commas(int64_t number) {
  std::string text = std::to_string(number);
  for (size_t end = text.size(); end > 3; end -= 3) text.insert(end - 3, ",");
  return text;
}

using Row = std::array<std::string, 5>;

Row row_of(const LayerSummary& layer) {
  const auto dots = std::count(layer.path.begin(), layer.path.end(), '.');
  const size_t depth = layer.path.empty() ? 0 : static_cast<size_t>(dots) + 1;
  const std::string name = layer.path.substr(layer.path.rfind('.') + 1);
  return {std::string(2 * depth, ' ') + layer.type + (name.empty() ? "" : " (" + name + ")"),
          layer.output_bytes ? as_text(IntArrayRef(layer.output)) : "-",
          with_commas(layer.parameters), with_commas(layer.multiply_adds),
          with_commas(layer.output_bytes)};
}

/// The first two columns are flush left, the numbers flush right.
void print_rows(std::ostream& stream, const std::vector<Row>& rows) {
  std::array<size_t, 5> widths{};
  for (const Row& row : rows)
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  for (const Row& row : rows) {
    for (size_t i = 0; i < row.size(); ++i) {
      const std::string blanks(widths[i] - row[i].size(), ' ');
      stream << (i ? "  " : "") << (i < 2 ? row[i] + blanks : blanks + row[i]);
    }
    stream << '\n';
  }
}

}  // namespace

ModelSummary summarize(const Module& model, const hearth::utils::Graph& graph) {
  ModelSummary summary;
  const auto modules = model.named_modules();
  for (const hearth::utils::GraphModule& module : graph.modules) {
    LayerSummary layer = summary_of(module, graph);
    if (const auto* found = modules.find(module.path))
      for (const Tensor& parameter : (*found)->parameters(false))
        layer.parameters += parameter.numel();
    summary.multiply_adds += layer.multiply_adds;
    summary.layers.push_back(std::move(layer));
  }
  std::set<const void*> seen;
  for (const Tensor& parameter : model.parameters()) {
    if (!seen.insert(parameter.unsafeGetTensorImpl()).second) continue;
    summary.parameters += parameter.numel();
    summary.parameter_bytes += static_cast<int64_t>(parameter.nbytes());
    if (parameter.requires_grad()) summary.trainable_parameters += parameter.numel();
  }
  return summary;
}

std::ostream& operator<<(std::ostream& stream, const ModelSummary& summary) {
  std::vector<Row> rows{{"layer", "output", "parameters", "multiply-adds", "output bytes"}};
  for (const LayerSummary& layer : summary.layers) rows.push_back(row_of(layer));
  print_rows(stream, rows);
  return stream << "parameters: " << with_commas(summary.parameters) << " ("
                << with_commas(summary.trainable_parameters) << " trainable, "
                << with_commas(summary.parameter_bytes)
                << " bytes); multiply-adds: " << with_commas(summary.multiply_adds) << '\n';
}

}  // namespace hearth::nn
