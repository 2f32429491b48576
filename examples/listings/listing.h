#pragma once

#include <torch/torch.h>

#include <exception>
#include <iostream>

/// Runs a listing as a program: an error that it does not catch ends it, as in Python.
template <class Listing>
int run(const Listing& listing) {
  try {
    listing();
    return 0;
  } catch (const std::exception& error) {
    std::cerr << "hearth: " << error.what() << '\n';
    return 1;
  }
}
