#include <algorithm>
#include <ostream>

#include "core/ivalue_variant.h"
#include "hearth/io/file.h"
#include "hearth/utils/checkpoint.h"
#include "io/output_tree.h"

namespace hearth::serialize {

std::vector<const Values::value_type*> in_written_order(const Values& values) {
  std::vector<const Values::value_type*> items;
  for (const auto& item : values) items.push_back(&item);
  std::sort(items.begin(), items.end(),
            [](const auto* a, const auto* b) { return a->second.order < b->second.order; });
  return items;
}

OutputArchive::OutputArchive() : tree_(new Tree) {}
OutputArchive::~OutputArchive() = default;
OutputArchive::OutputArchive(OutputArchive&&) noexcept = default;
OutputArchive& OutputArchive::operator=(OutputArchive&&) noexcept = default;

void OutputArchive::Tree::add(const std::string& path, Value value) {
  value.order = values.size();
  const bool is_new = values.emplace(path, std::move(value)).second;
  HEARTH_CHECK(is_new, "the archive already has a value under '", path, "'");
}

void OutputArchive::write(const std::string& key, const Tensor& value, bool) {
  tree_->add(key, {Value::Kind::kValue, value, 0, value.defined() && value.requires_grad(), {}});
}

namespace {

/// The largest number of values in one IValue.
constexpr int64_t kMaxValues = 10'000'000;

/// Checks the depth and the number of values: lists, tuples and dicts may contain themselves, or
/// one value many times. `count` is the number of values so far.
void check_extent(const std::string& key, const IValue& value, int depth, int64_t& count) {
  HEARTH_CHECK(++count <= kMaxValues, "cannot save '", key, "': it contains more than ", kMaxValues,
               " values");
  HEARTH_CHECK(depth <= kMaxValueDepth, "cannot save '", key, "': values are nested deeper than ",
               kMaxValueDepth, " levels, or contain themselves");
  HEARTH_CHECK(!value.isGenerator(), "cannot save '", key, "': it contains a Generator");
  const auto check_part = [&](const IValue& part) { check_extent(key, part, depth + 1, count); };
  if (value.isTuple())
    for (const IValue& item : value.toTupleRef().elements()) check_part(item);
  else if (value.isGenericDict())
    for (const auto& item : value.toGenericDict()) check_part(item.value());
  else if (value.isList() && detail::may_hold_tensors(detail::kind_of_list(value)))
    for (const IValue& item : value.toList().vec()) check_part(item);
}

}  // namespace

void OutputArchive::write(const std::string& key, const IValue& value) {
  if (value.isTensor()) return write(key, value.toTensor());
  if (!value.isTensorList()) {
    int64_t count = 0;
    check_extent(key, value, 0, count);
    // visit_ivalue() copies lists and dicts: later changes of those in the program do not reach the
    // archive.
    IValue copy = value;
    utils::detail::visit_ivalue(copy, [](Tensor&) {});
    return tree_->add(key, {Value::Kind::kValue, std::move(copy), 0, false, {}});
  }
  OutputArchive list;
  const std::vector<Tensor> tensors = value.toTensorVector();
  for (size_t i = 0; i < tensors.size(); ++i) list.write(detail::str(i), tensors[i]);
  write(key, list);
}

void OutputArchive::write(const std::string& key, const OutputArchive& nested) {
  HEARTH_CHECK(&nested != this, "an archive cannot be written into itself");
  tree_->add(key, {Value::Kind::kSubtree, IValue(), 0, false, {}});
  for (const auto* item : in_written_order(nested.tree_->values))
    tree_->add(key + "." + item->first, item->second);
}

bool OutputArchive::is_empty() const {
  return std::all_of(tree_->values.begin(), tree_->values.end(),
                     [](const auto& item) { return item.second.kind == Value::Kind::kSubtree; });
}

namespace {

void save(const Values& values, const io::ByteSink& sink) {
  const FileContent content = to_file(values);
  io::save_safetensors(content.tensors, sink, {{kJsonKey, content.json}});
}

}  // namespace

void OutputArchive::save_to(const std::string& filename) const {
  io::AtomicFile file(filename);
  save(tree_->values, [&](const void* data, size_t bytes) { file.write(data, bytes); });
  file.commit();
}

void OutputArchive::save_to(std::ostream& stream) const {
  save(tree_->values, [&](const void* data, size_t bytes) {
    stream.write(static_cast<const char*>(data), static_cast<std::streamsize>(bytes));
    HEARTH_CHECK(stream, "cannot write the archive: the stream failed");
  });
  HEARTH_CHECK(stream.flush(), "cannot write the archive: the stream failed");
}

void OutputArchive::save_to(const std::function<size_t(const void*, size_t)>& write) const {
  save(tree_->values, [&](const void* data, size_t bytes) {
    const size_t written = write(data, bytes);
    HEARTH_CHECK(written == bytes, "cannot write the archive: the function wrote ", written, " of ",
                 bytes, " bytes");
  });
}

}  // namespace hearth::serialize
