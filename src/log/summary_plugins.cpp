// The records of TensorBoard's plugins: text, hyperparameters, precision-recall curves, custom
// charts, meshes.
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "hearth/operators.h"
#include "hearth/tensor_literal.h"
#include "io/valid_json.h"
#include "log/event_writer.h"
#include "log/events.h"

namespace hearth::utils::tensorboard {

using detail::Message;
using detail::Stamp;

namespace {

constexpr int kTensor = 8, kMetadata = 9;  // of Summary.Value

/// google.protobuf.Value. As in PyTorch, a bool is a number.
Message protobuf_value(const HParam& value) {
  constexpr int kNumber = 2, kString = 3;
  if (const auto* text = std::get_if<std::string>(&value)) {
    detail::check_utf8("The value of a hyperparameter", *text);
    return Message().bytes(kString, *text);
  }
  const double number = std::visit(
      [](const auto& content) {
        if constexpr (std::is_arithmetic_v<std::decay_t<decltype(content)>>)
          return static_cast<double>(content);
        else
          return 0.0;
      },
      value);
  return Message().real(kNumber, number);
}

/// An HParamInfo.
Message hparam_info(const std::string& name, const HParam& value, const HParamDomains& domains) {
  constexpr int64_t kStringType = 1, kFloat64Type = 3;
  detail::check_utf8("The name of the hyperparameter", name);
  Message info;
  info.bytes(1, name);
  info.integer(4, std::holds_alternative<std::string>(value) ? kStringType : kFloat64Type);
  for (const auto& [domain_name, values] : domains) {
    if (domain_name != name) continue;
    Message list;
    for (const HParam& option : values) list.message(1, protobuf_value(option));
    info.message(5, list);
  }
  return info;
}

/// Throws unless each domain has values of its hyperparameter's type.
void check_domains(const HParams& hparams, const HParamDomains& domains) {
  for (const auto& [name, values] : domains) {
    const auto found = std::find_if(hparams.begin(), hparams.end(),
                                    [&name = name](const auto& h) { return h.first == name; });
    const bool agrees =
        found != hparams.end() && std::all_of(values.begin(), values.end(), [&](const HParam& v) {
          return v.index() == found->second.index();
        });
    HEARTH_CHECK_AS(TypeError, agrees, "parameter: hparam_domain_discrete[", name,
                    "] should be a list of same type as hparam_dict[", name, "].");
  }
}

/// A Summary.Value of the plugin hparams: a field of HParamsPluginData.
Message hparams_message(const char* tag, int field, const Message& content) {
  return detail::tagged(tag).message(
      kMetadata, detail::plugin_metadata("hparams", Message().message(field, content).str()));
}

Message experiment_of(const HParams& hparams, const NamedNumbers& metrics,
                      const HParamDomains& domains) {
  Message experiment;
  for (const auto& [name, value] : hparams)
    experiment.message(4, hparam_info(name, value, domains));
  for (const auto& metric : metrics) {
    detail::check_utf8("The tag", metric.first);
    experiment.message(5, Message().message(1, Message().bytes(2, metric.first)));
  }
  return experiment;
}

Message session_start_of(const HParams& hparams) {
  Message start;
  for (const auto& [name, value] : hparams)
    start.message(1, Message().bytes(1, name).message(2, protobuf_value(value)));
  return start;
}

/// The seconds since 1970 with seven decimals, like Python's str(time.time()).
std::string time_as_name() {
  char text[32];
  std::snprintf(text, sizeof text, "%.7f", detail::now());
  return text;
}

/// The rows true positives, false positives, true negatives, false negatives, precision, recall.
Tensor curve_of(const Tensor& labels, const Tensor& predictions, int64_t num_thresholds,
                const Tensor& weights) {
  const auto scores = detail::elements<double>((predictions * (num_thresholds - 1)).floor());
  const auto truth = detail::elements<double>(labels);
  const auto weight = weights.defined() ? detail::elements<double>(weights.expand_as(labels))
                                        : std::vector<double>(truth.size(), 1);
  const auto length = static_cast<size_t>(num_thresholds);  // of a row
  std::vector<double> rows(6 * length);
  double* const tp = rows.data();
  double* const fp = tp + length;
  for (size_t i = 0; i < truth.size(); ++i) {
    if (!(scores[i] >= 0 && scores[i] < static_cast<double>(length))) continue;
    const auto bin = static_cast<size_t>(scores[i]);
    tp[bin] += truth[i] * weight[i];
    fp[bin] += (1 - truth[i]) * weight[i];
  }
  for (size_t i = length - 1; i-- > 0;) {
    tp[i] += tp[i + 1];
    fp[i] += fp[i + 1];
  }
  constexpr double kLeastCount = 1e-7;
  for (size_t i = 0; i < length; ++i) {
    const double tn = fp[0] - fp[i], fn = tp[0] - tp[i];
    rows[2 * length + i] = tn;
    rows[3 * length + i] = fn;
    rows[4 * length + i] = tp[i] / std::max(kLeastCount, tp[i] + fp[i]);
    rows[5 * length + i] = tp[i] / std::max(kLeastCount, tp[i] + fn);
  }
  return tensor(rows, kDouble).view({6, num_thresholds});
}

constexpr int64_t kMaxThresholds = 127;  // as in PyTorch

Message curve_message(const std::string& tag, const Tensor& rows, int64_t num_thresholds) {
  const std::string content = Message().integer(2, std::min(num_thresholds, kMaxThresholds)).str();
  return detail::tagged(tag)
      .message(kMetadata, detail::plugin_metadata("pr_curves", content))
      .message(kTensor, detail::float_tensor(rows));
}

/// A Chart.
Message chart_message(const Chart& chart) {
  for (const std::string& tag : chart.tags) detail::check_utf8("The tag", tag);
  detail::check_utf8("The title", chart.title);
  HEARTH_CHECK_AS(ValueError, chart.type == "Margin" || chart.type == "Multiline",
                  "The type of a chart is 'Multiline' or 'Margin', but got '", chart.type, "'");
  Message message;
  message.bytes(1, chart.title);
  if (chart.type != "Margin") {
    Message lines;
    for (const std::string& tag : chart.tags) lines.bytes(1, tag);
    return message.message(2, lines);
  }
  HEARTH_CHECK(chart.tags.size() == 3, "Expected 3 tags, got ", chart.tags.size(), ".");
  Message series;
  for (int i = 0; i < 3; ++i) series.bytes(i + 1, chart.tags[static_cast<size_t>(i)]);
  return message.message(3, Message().message(1, series));
}

constexpr int64_t kVertex = 1, kFace = 2, kColor = 3;  // TensorBoard's numbers of the parts

/// One part of a mesh, with TensorBoard's number and name of it.
struct MeshPart {
  int64_t type;
  const char *name, *argument;
  const Tensor& tensor;
};

/// Throws unless the part has sizes [B, N, 3] that fit the vertices.
void check_mesh_part(const MeshPart& part, IntArrayRef sizes, IntArrayRef vertices) {
  HEARTH_CHECK_AS(ValueError, sizes.size() == 3 && sizes[2] == 3,
                  "Tensor shape should be of shape BxNx3, but got ", sizes, ".");
  HEARTH_CHECK_AS(ValueError, part.type != kColor || sizes.equals(vertices),
                  "A mesh has a color for each vertex, but got colors of sizes ", sizes,
                  " and vertices of sizes ", vertices);
  HEARTH_CHECK_AS(ValueError, sizes[0] == vertices[0],
                  "vertices and faces must have the same batch size, but got sizes ", vertices,
                  " and ", sizes);
}

Message mesh_message(const std::string& tag, const MeshPart& part, const Tensor& values,
                     int64_t components, const std::string& config) {
  const std::string content = Message()
                                  .bytes(2, tag)
                                  .integer(3, part.type)
                                  .bytes(5, config)
                                  .packed(6, values.sizes().vec())
                                  .integer(7, components)
                                  .str();
  return detail::tagged(tag + "_" + part.name)
      .message(kTensor, detail::float_tensor(values))
      .message(kMetadata, detail::plugin_metadata("mesh", content));
}

}  // namespace

void SummaryWriter::add_text(const std::string& tag, const std::string& text_string,
                             Step global_step, Walltime walltime) {
  detail::check_utf8("The text", text_string);
  writer_->add(summary_event(Stamp(global_step, walltime),
                             detail::tagged(tag + "/text_summary")
                                 .message(kMetadata, detail::plugin_metadata("text"))
                                 .message(kTensor, detail::text_tensor({text_string}, {1}))));
}

void SummaryWriter::add_hparams(const HParams& hparam_dict, const NamedNumbers& metric_dict,
                                const HParamDomains& hparam_domain_discrete,
                                const std::string& run_name, Step global_step) {
  constexpr int64_t kSuccess = 1;
  check_domains(hparam_dict, hparam_domain_discrete);
  const std::string folder = run_name.empty() ? time_as_name() : run_name;
  const Stamp stamp(global_step, {});
  const auto add = [&](const Message& value) { writer_->add(summary_event(stamp, value), folder); };
  add(hparams_message("_hparams_/experiment", 2,
                      experiment_of(hparam_dict, metric_dict, hparam_domain_discrete)));
  add(hparams_message("_hparams_/session_start_info", 3, session_start_of(hparam_dict)));
  add(hparams_message("_hparams_/session_end_info", 4, Message().integer(1, kSuccess)));
  for (const auto& [tag, value] : metric_dict)
    add(detail::scalar_message(tag, value, false, false));
  writer_->close_folder(folder);
}

void SummaryWriter::add_pr_curve(const std::string& tag, const Tensor& labels,
                                 const Tensor& predictions, Step global_step,
                                 int64_t num_thresholds, const Tensor& weights, Walltime walltime) {
  const int64_t thresholds = std::min(num_thresholds, kMaxThresholds);
  HEARTH_CHECK_AS(ValueError, thresholds >= 1, "num_thresholds must be positive, but got ",
                  num_thresholds);
  const Tensor truth = detail::snapshot(labels, "add_pr_curve", "labels");
  const Tensor scores = detail::snapshot(predictions, "add_pr_curve", "predictions");
  HEARTH_CHECK_AS(ValueError, truth.sizes().equals(scores.sizes()),
                  "labels and predictions must have the same sizes, but got ", truth.sizes(),
                  " and ", scores.sizes());
  const Tensor rows =
      curve_of(truth, scores, thresholds,
               weights.defined() ? detail::snapshot(weights, "add_pr_curve", "weights") : Tensor());
  writer_->add(summary_event(Stamp(global_step, walltime), curve_message(tag, rows, thresholds)));
}

void SummaryWriter::add_pr_curve_raw(const std::string& tag, const Tensor& true_positive_counts,
                                     const Tensor& false_positive_counts,
                                     const Tensor& true_negative_counts,
                                     const Tensor& false_negative_counts, const Tensor& precision,
                                     const Tensor& recall, Step global_step, int64_t num_thresholds,
                                     Walltime walltime) {
  std::vector<Tensor> rows;
  const std::pair<const char*, const Tensor&> arguments[] = {
      {"true_positive_counts", true_positive_counts},
      {"false_positive_counts", false_positive_counts},
      {"true_negative_counts", true_negative_counts},
      {"false_negative_counts", false_negative_counts},
      {"precision", precision},
      {"recall", recall}};
  for (const auto& [name, row] : arguments) {
    rows.push_back(detail::snapshot(row, "add_pr_curve_raw", name).to(kDouble));
    HEARTH_CHECK_AS(ValueError, row.dim() == 1 && row.size(0) == rows[0].size(0),
                    "all input arrays must have the same shape");
  }
  writer_->add(
      summary_event(Stamp(global_step, walltime), curve_message(tag, stack(rows), num_thresholds)));
}

void SummaryWriter::add_custom_scalars(const ChartLayout& layout) {
  Message message;
  for (const auto& [title, charts] : layout) {
    detail::check_utf8("The title", title);
    Message category;
    category.bytes(1, title);
    for (const Chart& chart : charts) category.message(2, chart_message(chart));
    message.message(2, category);
  }
  writer_->add(summary_event(Stamp({}, {}),
                             detail::tagged("custom_scalars__config__")
                                 .message(kTensor, detail::text_tensor({message.str()}, {}))
                                 .message(kMetadata, detail::plugin_metadata("custom_scalars"))));
}

void SummaryWriter::add_custom_scalars_multilinechart(const std::vector<std::string>& tags,
                                                      const std::string& category,
                                                      const std::string& title) {
  add_custom_scalars({{category, {Chart{title, "Multiline", tags}}}});
}

void SummaryWriter::add_custom_scalars_marginchart(const std::vector<std::string>& tags,
                                                   const std::string& category,
                                                   const std::string& title) {
  add_custom_scalars({{category, {Chart{title, "Margin", tags}}}});
}

void SummaryWriter::add_mesh(const std::string& tag, const Tensor& vertices, const Tensor& colors,
                             const Tensor& faces, const std::string& config_dict, Step global_step,
                             Walltime walltime) {
  const MeshPart parts[] = {{kVertex, "VERTEX", "vertices", vertices},
                            {kFace, "FACE", "faces", faces},
                            {kColor, "COLOR", "colors", colors}};
  int64_t components = 0;  // one bit per given part
  for (const MeshPart& part : parts)
    if (part.tensor.defined()) components |= int64_t{1} << part.type;
  HEARTH_CHECK_AS(ValueError, io::is_json(config_dict),
                  "config_dict is not valid JSON: ", config_dict);
  std::vector<Message> values_of_parts;
  for (const MeshPart& part : parts) {
    if (!part.tensor.defined() && part.type != kVertex) continue;
    const Tensor values = detail::snapshot(part.tensor, "add_mesh", part.argument);
    check_mesh_part(part, values.sizes(), vertices.sizes());
    values_of_parts.push_back(mesh_message(tag, part, values, components, config_dict));
  }
  writer_->add(summary_event(Stamp(global_step, walltime), values_of_parts));
}

}  // namespace hearth::utils::tensorboard
