#include "rendezvous_message.h"

#include <nlohmann/json.hpp>

namespace hearth::app {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(RendezvousMessage, kind, round, version, host,
                                                processes, token, key, node, nodes, first_rank,
                                                world_size, master_port, master_addr, run_id,
                                                launch_id, succeeded, status, text)

std::string encode(const RendezvousMessage& message) {
  return nlohmann::json(message).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::optional<RendezvousMessage> decode_rendezvous(const std::string& line) {
  try {
    return nlohmann::json::parse(line).get<RendezvousMessage>();
  } catch (const nlohmann::json::exception&) {
    return {};
  }
}

}  // namespace hearth::app
