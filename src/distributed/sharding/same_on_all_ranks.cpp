#include "distributed/sharding/same_on_all_ranks.h"

#include <algorithm>
#include <cstring>

#include "distributed/error_text.h"
#include "hearth/distributed/collectives.h"
#include "hearth/ivalue_containers.h"

namespace hearth::distributed {

namespace {

/// Begins the text that a rank with an error sends in place of its lines.
constexpr const char* kErrorMark = "\x01";

std::string joined(const Descriptions& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

Descriptions split(const std::string& text) {
  Descriptions lines;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = text.find('\n', begin);
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

std::string line_or_nothing(const Descriptions& lines, size_t index) {
  return index < lines.size() ? lines[index] : "nothing";
}

}  // namespace

std::string describe_parameter(const std::string& name, const Tensor& param) {
  return detail::str("'", name, "': ", hearth::name_of(param.scalar_type()), " ", param.sizes(),
                     param.requires_grad() ? "" : " without gradient");
}

void check_same_on_all_ranks(const DifferenceText& text,
                             const std::function<Descriptions()>& describe,
                             const ProcessGroupPtr& group) {
  std::string lines;
  const std::exception_ptr error = error_in([&] { lines = joined(describe()); });
  if (error) lines = kErrorMark + text_of(error);
  const std::vector<IValue> all = all_gather_object(lines, group);
  if (error) std::rethrow_exception(error);
  for (size_t rank = 0; rank < all.size(); ++rank)
    if (const std::string& sent = all[rank].toStringRef(); sent.starts_with(kErrorMark))
      detail::fail<Error>(text.function, " failed on rank ", rank, ": ",
                          sent.substr(std::strlen(kErrorMark)));
  const Descriptions first = split(all[0].toStringRef());
  for (size_t rank = 1; rank < all.size(); ++rank) {
    const Descriptions other = split(all[rank].toStringRef());
    const size_t count = std::max(first.size(), other.size());
    for (size_t i = 0; i < count; ++i)
      HEARTH_CHECK(line_or_nothing(first, i) == line_or_nothing(other, i), text.function,
                   ": the ranks ", text.difference, ". Number ", i, " of rank ", rank, " is ",
                   line_or_nothing(other, i), ", but that of rank 0 is ", line_or_nothing(first, i),
                   ". All ranks must ", text.requirement);
  }
}

void check_all_succeeded(const std::string& error, const ProcessGroupPtr& group) {
  const std::vector<IValue> all = all_gather_object(error, group);
  for (size_t rank = 0; rank < all.size(); ++rank)
    HEARTH_CHECK(all[rank].toStringRef().empty(), "rank ", rank, ": ", all[rank].toStringRef());
}

}  // namespace hearth::distributed
