#include "../listing.h"
#include "network.h"

void listing() {
  for (const auto* name : {"cpu", "cuda"}) {
    auto device = torch::Device(name);

    auto network = Network();
    network->to(device);
    std::cout << network->out->weight.device() << '\n';
  }
}

int main() { return run(listing); }
