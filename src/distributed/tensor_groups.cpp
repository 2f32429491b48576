#include "distributed/tensor_groups.h"

#include <algorithm>
#include <map>

#include "distributed/flat_tensor.h"

namespace hearth::distributed {

namespace {

/// A broadcast ends with the tensor that reaches this size, which bounds the memory for copies.
constexpr int64_t kBroadcastBytes = int64_t{250} << 20;

/// A group of tensors that is not complete.
struct OpenGroup {
  std::vector<size_t> members;
  int64_t bytes = 0;
  bool is_first = true;
};

std::vector<Tensor> selected_tensors(const std::vector<Tensor>& tensors,
                                     const std::vector<size_t>& indices) {
  std::vector<Tensor> result;
  for (const size_t i : indices) result.push_back(tensors[i]);
  return result;
}

}  // namespace

std::vector<std::vector<size_t>> group_by_size(const std::vector<Tensor>& tensors,
                                               int64_t first_limit, int64_t limit) {
  std::map<std::pair<std::string, ScalarType>, OpenGroup> open;
  std::vector<std::vector<size_t>> groups;
  for (size_t i = 0; i < tensors.size(); ++i) {
    OpenGroup& group = open[{tensors[i].device().str(), tensors[i].scalar_type()}];
    group.members.push_back(i);
    group.bytes += static_cast<int64_t>(tensors[i].nbytes());
    if (group.bytes < (group.is_first ? first_limit : limit)) continue;
    groups.push_back(std::move(group.members));
    group = OpenGroup();
    group.is_first = false;
  }
  for (auto& [key, group] : open)
    if (!group.members.empty()) groups.push_back(std::move(group.members));
  std::sort(groups.begin(), groups.end(),
            [](const auto& a, const auto& b) { return a.back() < b.back(); });
  return groups;
}

void broadcast_coalesced(ProcessGroup& group, const std::vector<Tensor>& tensors, int root) {
  BroadcastOptions options;
  options.rootRank = root;
  for (const auto& members : group_by_size(tensors, kBroadcastBytes, kBroadcastBytes)) {
    const std::vector<Tensor> part = selected_tensors(tensors, members);
    const FlatTensor flat(part);
    if (group.getRank() == root) flat.pack(part);
    std::vector<Tensor> buffers{flat.buffer()};
    group.broadcast(buffers, options)->wait();
    if (group.getRank() != root) flat.unpack(part);
  }
}

}  // namespace hearth::distributed
