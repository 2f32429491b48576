// Collectives and transfers of values: each is sent as the bytes of a .pt file, after its length.

#include <cstring>

#include "distributed/world.h"
#include "hearth/distributed/collectives.h"
#include "hearth/io/pt.h"
#include "hearth/operators.h"

namespace hearth::distributed {

namespace {

Tensor bytes_of_object(const IValue& object) {
  const std::vector<char> bytes = pickle_save(object);
  const Tensor tensor = empty({static_cast<int64_t>(bytes.size())}, TensorOptions(kByte));
  std::memcpy(tensor.data_ptr(), bytes.data(), bytes.size());
  return tensor;
}

IValue object_in(const Tensor& bytes) {
  const char* const data = static_cast<const char*>(bytes.data_ptr());
  return pickle_load(std::vector<char>(data, data + bytes.numel()));
}

Tensor number_tensor(int64_t value) {
  const Tensor tensor = empty({1}, TensorOptions(kLong));
  *tensor.data_ptr<int64_t>() = value;
  return tensor;
}

/// The bytes, padded with zeros to `size` bytes.
Tensor padded(const Tensor& bytes, int64_t size) {
  const Tensor result = zeros({size}, TensorOptions(kByte));
  std::memcpy(result.data_ptr(), bytes.data_ptr(), bytes.nbytes());
  return result;
}

/// The lengths of all ranks' objects.
std::vector<int64_t> gather_lengths(int64_t mine, const ProcessGroupPtr& group) {
  const Tensor all = empty({get_world_size(group)}, TensorOptions(kLong));
  all_gather_into_tensor(all, number_tensor(mine), group);
  const int64_t* const data = all.data_ptr<int64_t>();
  return {data, data + all.numel()};
}

std::vector<IValue> objects_in(const Tensor& rows, const std::vector<int64_t>& lengths) {
  std::vector<IValue> objects;
  for (size_t i = 0; i < lengths.size(); ++i)
    objects.push_back(object_in(rows[static_cast<int64_t>(i)].narrow(0, 0, lengths[i])));
  return objects;
}

bool is_member(const ProcessGroupPtr& group) { return resolve(group)->communicator() != nullptr; }

}  // namespace

std::vector<IValue> all_gather_object(const IValue& object, const ProcessGroupPtr& group) {
  if (!is_member(group)) return {};
  const Tensor mine = bytes_of_object(object);
  const std::vector<int64_t> lengths = gather_lengths(mine.numel(), group);
  const int64_t longest = *std::max_element(lengths.begin(), lengths.end());
  const Tensor all = empty({get_world_size(group), longest}, TensorOptions(kByte));
  all_gather_into_tensor(all, padded(mine, longest), group);
  return objects_in(all, lengths);
}

std::vector<IValue> gather_object(const IValue& object, int dst, const ProcessGroupPtr& group) {
  if (!is_member(group)) return {};
  const Tensor mine = bytes_of_object(object);
  const std::vector<int64_t> lengths = gather_lengths(mine.numel(), group);
  const int64_t longest = *std::max_element(lengths.begin(), lengths.end());
  if (get_rank(group) != get_group_rank(group, dst)) {
    gather(padded(mine, longest), {}, dst, group);
    return {};
  }
  const Tensor all = empty({get_world_size(group), longest}, TensorOptions(kByte));
  gather(padded(mine, longest), all.unbind(), dst, group);
  return objects_in(all, lengths);
}

void broadcast_object_list(std::vector<IValue>& objects, int src, const ProcessGroupPtr& group) {
  if (!is_member(group)) return;
  const bool is_source = get_rank(group) == get_group_rank(group, src);
  const Tensor mine = is_source ? bytes_of_object(IValue(objects)) : Tensor();
  const Tensor length = number_tensor(is_source ? mine.numel() : 0);
  broadcast(length, src, group);
  const Tensor bytes = is_source ? mine : empty({length.item<int64_t>()}, TensorOptions(kByte));
  broadcast(bytes, src, group);
  if (!is_source) objects = object_in(bytes).toList().vec();
}

IValue scatter_object(const std::vector<IValue>& objects, int src, const ProcessGroupPtr& group) {
  if (!is_member(group)) return {};
  const bool is_source = get_rank(group) == get_group_rank(group, src);
  HEARTH_CHECK_AS(ValueError,
                  !is_source || static_cast<int>(objects.size()) == get_world_size(group),
                  "scatter_object: the list needs one object for each of ", get_world_size(group),
                  " ranks, but has ", objects.size());
  std::vector<Tensor> parts;
  const Tensor lengths = zeros({get_world_size(group)}, TensorOptions(kLong));
  if (is_source)
    for (size_t i = 0; i < objects.size(); ++i) {
      parts.push_back(bytes_of_object(objects[i]));
      lengths.data_ptr<int64_t>()[i] = parts.back().numel();
    }
  broadcast(lengths, src, group);
  const auto longest = lengths.max().item<int64_t>();
  for (Tensor& part : parts) part = padded(part, longest);
  const Tensor bytes = empty({longest}, TensorOptions(kByte));
  scatter(bytes, parts, src, group);
  return object_in(bytes.narrow(0, 0, lengths.data_ptr<int64_t>()[get_rank(group)]));
}

void send_object(const IValue& object, int dst, const ProcessGroupPtr& group) {
  const Tensor bytes = bytes_of_object(object);
  send(number_tensor(bytes.numel()), dst, group);
  send(bytes, dst, group);
}

IValue recv_object(int src, const ProcessGroupPtr& group) {
  const Tensor length = number_tensor(0);
  recv(length, src, group);
  const Tensor bytes = empty({length.item<int64_t>()}, TensorOptions(kByte));
  recv(bytes, src, group);
  return object_in(bytes);
}

}  // namespace hearth::distributed
