// Sending and receiving between two ranks, and the barrier that names missing ranks.

#include "distributed/transfers.h"

#include "distributed/new_work.h"

namespace hearth::distributed {

namespace {

void check_transfer(int peer, int tag, const Communicator::Options& group, OpType type) {
  check_rank(peer, group.size, type);
  HEARTH_CHECK_AS(ValueError, tag >= 0, name_of(type), ": the tag is ", tag,
                  ", but must not be negative");
  HEARTH_CHECK_AS(ValueError, peer != group.rank, "Invalid ",
                  type == OpType::SEND ? "destination" : "source",
                  " rank: it should not be the same as the rank of the current process.");
}

Communicator::StatePtr new_transfer(OpType type, const Tensor& tensor, int peer, int tag) {
  const std::vector<Tensor> none, one{tensor};
  const auto work =
      type == OpType::SEND ? new_work(type, one, none, tensor) : new_work(type, none, one, tensor);
  work->call.peer = peer;
  work->call.user_tag = tag;
  return work;
}

WorkPtr receive(Communicator& group, const Tensor& tensor, OpType type, int source, int tag) {
  const auto staged = std::make_shared<std::optional<StagedTensor>>();
  const auto begin = [&](Backend& backend, const BackendCall& call) {
    staged->emplace(tensor, StagedTensor::kWrite, backend.device());
    return backend.receive((*staged)->data(), (*staged)->bytes(), source, call);
  };
  return group.submit_transfer(new_transfer(type, tensor, source, tag), kUnsetTimeout, begin,
                               [staged] { (*staged)->write_back(); });
}

}  // namespace

WorkPtr ProcessGroup::send(std::vector<Tensor>& tensors, int destination, int tag) {
  const Tensor tensor = only(tensors, OpType::SEND);
  check_tensor(tensor, OpType::SEND);
  check_transfer(destination, tag, member().options(), OpType::SEND);
  const auto staged = std::make_shared<std::optional<StagedTensor>>();
  const auto begin = [&](Backend& backend, const BackendCall& call) {
    staged->emplace(tensor, StagedTensor::kRead, backend.device());
    return backend.send((*staged)->data(), (*staged)->bytes(), destination, call);
  };
  // `staged` keeps the memory until the end.
  return member().submit_transfer(new_transfer(OpType::SEND, tensor, destination, tag),
                                  kUnsetTimeout, begin, [staged] {});
}

WorkPtr ProcessGroup::recv(std::vector<Tensor>& tensors, int source, int tag) {
  const Tensor tensor = only(tensors, OpType::RECV);
  check_tensor(tensor, OpType::RECV);
  check_transfer(source, tag, member().options(), OpType::RECV);
  return receive(member(), tensor, OpType::RECV, source, tag);
}

WorkPtr ProcessGroup::recvAnysource(std::vector<Tensor>& tensors, int tag) {
  const Tensor tensor = only(tensors, OpType::RECVANYSOURCE);
  check_tensor(tensor, OpType::RECVANYSOURCE);
  HEARTH_CHECK_AS(ValueError, tag >= 0, "recv: the tag is ", tag, ", but must not be negative");
  HEARTH_CHECK_AS(ValueError, getSize() > 1,
                  "recv: the group has no other rank from which a tensor could come");
  HEARTH_CHECK_AS(ValueError, member().receives_from_any(), "recv: the backend ", getBackendName(),
                  " cannot receive from any rank; give the rank of the sender");
  return receive(member(), tensor, OpType::RECVANYSOURCE, -1, tag);
}

WorkPtr begin_transfers(Communicator& group, const std::vector<P2POp>& transfers) {
  std::vector<Tensor> sent, received;
  for (const P2POp& transfer : transfers) {
    const OpType type = transfer.sends ? OpType::SEND : OpType::RECV;
    check_tensor(transfer.tensor, type);
    check_transfer(transfer.peer, transfer.tag, group.options(), type);
    (transfer.sends ? sent : received).push_back(transfer.tensor);
  }
  const auto staged = std::make_shared<std::vector<StagedTensor>>();
  const auto begin = [&](Backend& backend, const BackendCall& call) {
    std::vector<TransferPart> parts;
    for (const P2POp& transfer : transfers) {
      const auto use = transfer.sends ? StagedTensor::kRead : StagedTensor::kWrite;
      const StagedTensor& memory = staged->emplace_back(transfer.tensor, use, backend.device());
      parts.push_back({static_cast<char*>(memory.data()), memory.bytes(), transfer.peer,
                       transfer.sends, static_cast<uint32_t>(transfer.tag)});
    }
    return backend.transfer(parts, call);
  };
  std::vector<size_t> receives;
  for (size_t i = 0; i < transfers.size(); ++i)
    if (!transfers[i].sends) receives.push_back(i);
  return group.submit_transfer(new_work(OpType::COALESCED, sent, received, {}), kUnsetTimeout,
                               begin, [staged, receives] {
                                 for (const size_t i : receives) (*staged)[i].write_back();
                               });
}

namespace {

/// Whether the store has a key before the deadline.
bool appears(Store& store, const std::string& key, Deadline deadline) {
  try {
    store.wait({key}, std::max(deadline.left(), milliseconds(1)));
    return true;
  } catch (const DistStoreError&) {
    return store.check({key});  // the wait may have been too short for an answer
  }
}

}  // namespace

void ProcessGroup::monitoredBarrier(const BarrierOptions& options, bool wait_all_ranks) {
  Communicator& group = member();
  Store& store = group.store();
  const int rank = getRank(), size = getSize();
  const milliseconds timeout =
      options.timeout == kUnsetTimeout ? group.timeout() : checked_timeout(options.timeout);
  const Deadline deadline = Deadline::after(timeout);
  const std::string round =
      detail::str("monitored/", store.add(detail::str("monitored/", rank, "/count"), 1), "/");
  const auto key_of = [&](int member) { return round + std::to_string(member); };
  store.set(key_of(rank), std::string("here"));
  if (rank != 0) {
    // Rank 0 may arrive one time-out later, and then waits for one time-out before it answers.
    store.wait({round + "answer"}, 2 * timeout);
    const std::string answer = store.get_to_str(round + "answer");
    HEARTH_CHECK_AS(DistBackendError, answer.empty(), "[Rank ", rank, "]: ", answer);
    return;
  }
  std::string missing, answer;
  int count = 0;
  for (int member = 1; member < size && (count == 0 || wait_all_ranks); ++member)
    if (!appears(store, key_of(member), deadline))
      missing += detail::str(count++ ? ", " : "", member);
  if (count > 0)
    answer = detail::str(count == 1 ? "Rank " : "Ranks ", missing,
                         " failed to pass monitoredBarrier in ", timeout.count(), " ms");
  store.set(round + "answer", answer);
  HEARTH_CHECK_AS(DistBackendError, answer.empty(), "[Rank 0]: ", answer);
}

}  // namespace hearth::distributed
