// The files of TensorBoard's projector.
#include <algorithm>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "hearth/io/file.h"
#include "hearth/operators.h"
#include "log/event_writer.h"
#include "log/events.h"
#include "log/pictures.h"

namespace hearth::utils::tensorboard {

namespace {

/// An embedding whose files the writer's thread writes.
struct EmbeddingFiles {
  std::string log_dir, folder, name;  // `folder` is relative to log_dir
  Tensor points, images;
  std::vector<std::string> labels;
};

/// The tag as part of a path, encoded as in PyTorch.
std::string path_part(const std::string& tag) {
  std::string out;
  for (const char c : tag) {
    if (c == '%')
      out += "%25";
    else if (c == '/')
      out += "%2f";
    else if (c == '\\')
      out += "%5c";
    else
      out += c;
  }
  return out;
}

std::string five_digits(int64_t step) {
  char text[24];
  std::snprintf(text, sizeof text, "%05lld", static_cast<long long>(step));
  return text;
}

bool is_control(char c) { return static_cast<uint8_t>(c) < ' '; }

/// One line per row, with tabs between the numbers.
std::string tsv_of(const Tensor& points) {
  const auto numbers = detail::elements<double>(points);
  const auto columns = static_cast<size_t>(points.size(1));
  std::string out;
  for (size_t i = 0; i < numbers.size(); ++i) {
    char text[32];
    out.append(text, std::to_chars(text, text + sizeof text, numbers[i]).ptr);
    out += (i + 1) % columns ? '\t' : '\n';
  }
  return out;
}

std::string lines_of(const std::vector<std::string>& labels) {
  std::string out;
  for (const std::string& label : labels) (out += label) += '\n';
  return out;
}

/// A quoted string of the text format of Protocol Buffers.
std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out += '"';
}

/// The embedding's entry in projector_config.pbtxt.
std::string config_of(const EmbeddingFiles& files) {
  const auto path = [&](const char* file) { return quoted(files.folder + "/" + file); };
  std::string out = "embeddings {\n  tensor_name: " + quoted(files.name) + "\n";
  out += "  tensor_path: " + path("tensors.tsv") + "\n";
  if (!files.labels.empty()) out += "  metadata_path: " + path("metadata.tsv") + "\n";
  if (files.images.defined()) {
    out += "  sprite {\n    image_path: " + path("sprite.png") + "\n";
    for (const int64_t dim : {3, 2})
      out += hearth::detail::str("    single_image_dim: ", files.images.size(dim), "\n");
    out += "  }\n";
  }
  return out + "}\n";
}

/// Adds the embedding's entry to projector_config.pbtxt, which may be of an earlier writer.
void add_to_config(const EmbeddingFiles& files) {
  const std::string path = files.log_dir + "/projector_config.pbtxt", entry = config_of(files);
  std::ifstream file(path, std::ios::binary);
  const std::string config{std::istreambuf_iterator<char>(file), {}};
  if (config.find(entry) == std::string::npos) io::write_file(path, config + entry);
}

void write_embedding(const EmbeddingFiles& files) {
  const std::string folder = files.log_dir + "/" + files.folder;
  HEARTH_CHECK(!std::filesystem::exists(folder) || std::filesystem::is_directory(folder), "Path: `",
               folder, "` exists, but is a file. Cannot proceed.");
  std::filesystem::create_directories(folder);
  io::write_file(folder + "/tensors.tsv", tsv_of(files.points));
  if (!files.labels.empty()) io::write_file(folder + "/metadata.tsv", lines_of(files.labels));
  if (files.images.defined())
    io::write_file(folder + "/sprite.png", detail::sprite_png(files.images));
  add_to_config(files);
}

/// Throws unless TensorBoard's projector can read the points and the name.
void check_points(const Tensor& points, const std::string& tag) {
  HEARTH_CHECK(points.dim() == 2,
               "mat should be 2D, where mat.size(0) is the number of data points");
  HEARTH_CHECK_AS(ValueError, points.numel() > 0,
                  "mat must have at least one row and one column, but its sizes are ",
                  points.sizes());
  HEARTH_CHECK_AS(TypeError, !points.is_complex(), "mat cannot be complex");
  detail::check_utf8("The tag", tag);
  HEARTH_CHECK_AS(ValueError, std::none_of(tag.begin(), tag.end(), is_control),
                  "The tag of an embedding cannot contain control characters: '", tag, "'");
}

void check_labels(const EmbeddingOptions& options, int64_t rows) {
  const auto& labels = options.metadata();
  HEARTH_CHECK(labels.empty() || static_cast<int64_t>(labels.size()) == rows,
               "#labels should equal with #data points");
  for (const std::string& label : labels) {
    detail::check_utf8("The label", label);
    HEARTH_CHECK_AS(ValueError, label.find('\n') == std::string::npos,
                    "A label cannot contain a line break: '", label, "'");
  }
  const auto& header = options.metadata_header();
  if (labels.empty() || header.empty()) return;
  for (const std::string& name : header) {
    detail::check_utf8("The name of a column", name);
    HEARTH_CHECK_AS(ValueError, name.find_first_of("\t\n") == std::string::npos,
                    "The name of a column cannot contain a tab or a line break: '", name, "'");
  }
  const auto tabs = std::count(labels[0].begin(), labels[0].end(), '\t');
  HEARTH_CHECK(static_cast<int64_t>(header.size()) == tabs + 1,
               "len of header must be equal to the number of columns in metadata");
}

/// The header, with tabs between its names, and the labels.
std::vector<std::string> metadata_lines(const EmbeddingOptions& options) {
  if (options.metadata().empty() || options.metadata_header().empty()) return options.metadata();
  std::string header;
  for (const std::string& name : options.metadata_header())
    header += (header.empty() ? "" : "\t") + name;
  std::vector<std::string> lines{header};
  lines.insert(lines.end(), options.metadata().begin(), options.metadata().end());
  return lines;
}

}  // namespace

void SummaryWriter::add_embedding(const Tensor& mat, const EmbeddingOptions& options) {
  const Tensor points = detail::snapshot(mat, "add_embedding", "mat");
  check_points(points, options.tag());
  check_labels(options, points.size(0));
  Tensor images;
  if (options.label_img().defined()) {
    images = detail::snapshot(options.label_img(), "add_embedding", "label_img");
    detail::check_image(images.sizes(), images.scalar_type(), "NCHW");
    HEARTH_CHECK(images.size(0) == points.size(0), "#images should equal with #data points");
  }
  const std::string step = five_digits(options.global_step().value_or(0));
  const EmbeddingFiles files{writer_->folder(),
                             step + "/" + path_part(options.tag()),
                             options.tag() + ":" + step,
                             points,
                             images,
                             metadata_lines(options)};
  if (std::error_code ignored; std::filesystem::exists(files.log_dir + "/" + files.folder, ignored))
    warn("Embedding dir exists, did you set global_step for add_embedding()? (" + files.folder +
         ")");
  const size_t bytes = points.nbytes() + (images.defined() ? images.nbytes() : 0);
  writer_->add_later(bytes, [files] {
    write_embedding(files);
    return std::string();
  });
}

}  // namespace hearth::utils::tensorboard
