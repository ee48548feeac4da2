// Sums along a fixed tree of which every process has a stretch, on their way to rank 0.
//
// A summand T packs itself: void pack(Packer&) const, and void unpack(Unpacker&).
#pragma once

#include <string>
#include <string_view>

#include "hqmm/core/packing.hpp"
#include "hqmm/core/ranks.hpp"
#include "hqmm/core/tree_sum.hpp"

namespace hqmm::detail {

template <typename T>
std::string pack_sum(TreeSum<T>& sum) {
  Packer out;
  for (std::size_t i = 0; i < sum.size(); ++i) {
    out.number(sum.node(i).level).number(sum.node(i).index);
    sum.node(i).value.pack(out);
  }
  return out.take();
}

/// Adds the nodes of the next stretch.
template <typename T>
void add_packed(std::string_view packed, TreeSum<T>& sum) {
  T value;
  for (Unpacker in(packed); !in.at_end();) {
    const auto level = in.number<unsigned>();
    const auto index = in.number<std::size_t>();
    value.unpack(in);
    sum.add(level, index, value);
  }
}

template <typename T>
std::string merge_sums(const std::string& ours, const std::string& theirs) {
  TreeSum<T> sum;
  add_packed(ours, sum);
  add_packed(theirs, sum);
  return pack_sum(sum);
}

}  // namespace hqmm::detail
