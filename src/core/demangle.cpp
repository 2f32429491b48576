#include "hearth/demangle.h"

#include <cxxabi.h>

#include <cstdlib>

namespace hearth {

std::string demangle(const char* symbol) {
  int status = 0;
  char* readable = abi::__cxa_demangle(symbol, nullptr, nullptr, &status);
  std::string text = readable ? readable : symbol;
  std::free(readable);
  return text;
}

}  // namespace hearth
