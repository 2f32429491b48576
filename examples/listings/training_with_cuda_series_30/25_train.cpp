#include "../listing.h"
#include "network.h"
#include "train_set.h"

void listing(const std::string& folder, const Values& batch_sizes) {
  auto train_set = load_train_set(folder);
  auto params = Params{{"lr", {.01}}, {"batch_size", batch_sizes}, {"num_workers", {0, 1}}};
  // If cuda is available, use it!
  if (torch::cuda::is_available()) params.push_back({"device", {"cuda", "cpu"}});

  auto m = RunManager();
  for (const auto& run : RunBuilder::get_runs(params)) {
    auto device = run.get<torch::Device>("device", torch::kCPU);
    auto network = Network();
    network->to(device);
    auto loader = make_loader(train_set, run);
    auto optimizer = torch::optim::Adam(network->parameters(), run.get<double>("lr"));

    m.begin_run(run, network, *loader);
    for (auto epoch = 0; epoch < 1; ++epoch) {
      m.begin_epoch();
      for (auto& batch : *loader) {
        auto images = batch.data.to(device);
        auto labels = batch.target.to(device);

        auto preds = network(images);
        auto loss = torch::cross_entropy_loss(preds, labels);

        optimizer.zero_grad();
        loss.backward();
        optimizer.step();

        m.track_loss(loss, images);
        m.track_num_correct(preds, labels);
      }
      m.end_epoch();
    }
    m.end_run();
  }
  m.save("results");
}

// 25_train [folder [batch size...]]
int main(int argc, char** argv) {
  return run([&] {
    const std::string folder =
        argc > 1 ? argv[1] : torch::data::datasets::FashionMNIST::kDebianFolder;
    Values batch_sizes;
    for (int i = 2; i < argc; ++i) batch_sizes.push_back(std::stoll(argv[i]));
    if (batch_sizes.empty()) batch_sizes = {1000, 10000, 20000};
    listing(folder, batch_sizes);
  });
}
