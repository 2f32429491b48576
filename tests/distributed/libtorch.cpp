#include <gtest/gtest.h>
#include <torch/torch.h>
#include <torch/csrc/distributed/c10d/FileStore.hpp>
#include <torch/csrc/distributed/c10d/HashStore.hpp>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include <thread>

// A program as it is written for LibTorch: two ranks in two threads.

namespace {

void run_rank(const c10::intrusive_ptr<c10d::Store>& store, int rank) {
  auto prefixed = c10::make_intrusive<c10d::PrefixStore>("job", store);
  auto group = std::make_shared<c10d::ProcessGroupGloo>(
      prefixed, rank, 2, c10d::ProcessGroupGloo::Options::create(std::chrono::seconds(20)));
  EXPECT_EQ(group->getRank(), rank);
  EXPECT_EQ(group->getBackendName(), "gloo");
  std::vector<at::Tensor> tensors{torch::full({3}, rank + 1.0)};
  c10d::AllreduceOptions options;
  options.reduceOp = c10d::ReduceOp::PRODUCT;
  c10::intrusive_ptr<c10d::Work> work = group->allreduce(tensors, options);
  work->wait();
  EXPECT_TRUE(work->isSuccess());
  EXPECT_TRUE(torch::equal(tensors[0], torch::full({3}, 2.0)));
  std::vector<at::Tensor> inputs{torch::full({2}, rank)};
  std::vector<std::vector<at::Tensor>> outputs{
      {torch::zeros({2}, torch::kLong), torch::zeros({2}, torch::kLong)}};
  group->allgather(outputs, inputs)->wait();
  EXPECT_EQ(outputs[0][1][0].item<int>(), 1);
  if (rank == 0)
    group->send(inputs, 1, 5)->wait();
  else
    group->recv(inputs, 0, 5)->wait();
  EXPECT_EQ(inputs[0][0].item<int>(), 0);
  group->barrier()->wait();
}

TEST(LibTorch, ProgramsWithProcessGroupsCompileAndRun) {
  const auto store = c10::make_intrusive<c10d::HashStore>();
  std::thread other([&] { run_rank(store, 1); });
  run_rank(store, 0);
  other.join();
  c10d::TCPStoreOptions options;
  options.isServer = true;
  options.port = 0;
  c10d::TCPStore server("127.0.0.1", options);
  server.set("key", "value");
  EXPECT_EQ(server.get_to_str("key"), "value");
  EXPECT_EQ(server.get("key"), (std::vector<uint8_t>{'v', 'a', 'l', 'u', 'e'}));
}

}  // namespace
