#include "distributed/same_tensors.h"

#include "distributed/error_text.h"
#include "distributed/world.h"
#include "hearth/distributed/collectives.h"
#include "hearth/ivalue_containers.h"

namespace hearth::distributed {

namespace {

/// The properties that the ranks compare, each as text.
constexpr const char* kProperties[] = {"name", "sizes", "strides", "dtype", "requires_grad"};
constexpr size_t kCount = std::size(kProperties);

std::vector<IValue> properties_of(const OrderedDict<std::string, Tensor>& tensors) {
  std::vector<IValue> texts;
  for (const auto& item : tensors) {
    const Tensor& tensor = item.value();
    texts.push_back(item.key());
    texts.push_back(detail::str(tensor.sizes()));
    texts.push_back(detail::str(tensor.strides()));
    texts.push_back(detail::str(tensor.scalar_type()));
    texts.push_back(detail::str(tensor.requires_grad()));
  }
  return texts;
}

/// Throws if rank `rank` has other tensors than rank 0.
void compare(int rank, const std::vector<IValue>& first, const std::vector<IValue>& other) {
  const size_t common = std::min(first.size(), other.size());
  for (size_t i = 0; i < common; ++i) {
    const std::string &expected = first[i].toStringRef(), &got = other[i].toStringRef();
    if (expected == got) continue;
    const size_t tensor = i / kCount;
    const char* const property = kProperties[i % kCount];
    detail::fail<Error>(
        "[", rank, "]: params[", tensor, "] (", first[tensor * kCount].toStringRef(), ") with ",
        property, " ", got, " appears not to match ", property,
        " of the same param in process 0: ", expected, ". Build the same model on all ranks");
  }
  if (first.size() == other.size()) return;
  const std::vector<IValue>& longer = first.size() > other.size() ? first : other;
  detail::fail<Error>("DDP expects same model across all ranks, but Rank ", rank, " has ",
                      other.size() / kCount, " params, while rank 0 has inconsistent ",
                      first.size() / kCount, " params. Only rank ", &longer == &first ? 0 : rank,
                      " has ", longer[common].toStringRef());
}

}  // namespace

void check_same_tensors(const ProcessGroupPtr& group,
                        const OrderedDict<std::string, Tensor>& tensors,
                        const std::function<void()>& check) {
  const std::exception_ptr error = error_in(check);
  std::vector<IValue> own = properties_of(tensors);
  own.push_back(IValue(!!error));
  own.push_back(error ? text_of(error) : std::string());
  std::vector<std::vector<IValue>> all;
  std::vector<std::string> errors;
  for (const IValue& of_rank : all_gather_object(own, group)) {
    std::vector<IValue>& values = all.emplace_back(of_rank.toList().vec());
    const std::string text = values.back().toStringRef();
    values.pop_back();
    errors.push_back(values.back().toBool() ? "DistributedDataParallel failed on rank " +
                                                  std::to_string(errors.size()) + ": " + text
                                            : "");
    values.pop_back();
  }
  for (size_t rank = 1; rank < all.size(); ++rank)
    compare(static_cast<int>(rank), all[0], all[rank]);
  if (error) std::rethrow_exception(error);
  for (const std::string& of_rank : errors) HEARTH_CHECK(of_rank.empty(), of_rank);
}

}  // namespace hearth::distributed
