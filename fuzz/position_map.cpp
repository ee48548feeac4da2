// Files of positions.
#include "hqmm/io/position_map_file.hpp"
#include "target.hpp"

namespace hqmm::fuzz {

void position_map(std::string_view bytes) {
  read_or_refuse([&] { (void)read_position_map(path_of(bytes)); });
}

}  // namespace hqmm::fuzz
