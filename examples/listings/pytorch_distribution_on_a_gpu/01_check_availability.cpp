#include "../listing.h"

void listing() { std::cout << std::boolalpha << torch::cuda::is_available() << '\n'; }

int main() { return run(listing); }
