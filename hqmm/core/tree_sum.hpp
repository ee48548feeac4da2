// TreeSum: the sum of fold_tree() (parallel.hpp) over leaves that come one after another, or of
// which every process has a stretch.
//
// What is kept are whole nodes of the tree: those of leaves 0…12 are the nodes of 0–7, 8–11 and 12.
// Two sums of neighbouring stretches meet node by node, so it does not matter who added what: the
// bytes are those of fold_tree().
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace hqmm::detail {

template <typename T>
class TreeSum {
 public:
  /// The sum of the leaves [index << level, (index + 1) << level).
  struct Node {
    unsigned level = 0;
    std::size_t index = 0;
    T value{};
  };

  /// The leaf after the last one; `index` is its place among all leaves. `value` is left with
  /// memory that it may use again.
  void add_leaf(std::size_t index, T& value) { add(0, index, value); }

  /// A node that begins where the last one ends; the last of all may have fewer leaves. plus(a, b) is
  /// a += b.
  template <typename Plus>
  void add(unsigned level, std::size_t index, T& value, Plus plus) {
    if (count_ > 0 && is_left(nodes_[count_ - 1], level, index)) {
      plus(nodes_[count_ - 1].value, value);
      rise(plus);
      return;
    }
    if (nodes_.size() == count_) nodes_.emplace_back();
    Node& node = nodes_[count_++];
    node.level = level;
    node.index = index;
    std::swap(node.value, value);
  }

  void add(unsigned level, std::size_t index, T& value) {
    add(level, index, value, [](T& a, T& b) { a += b; });
  }

  /// The sum of all leaves, once the last one is there.
  [[nodiscard]] T& total() {
    while (count_ > 1) {
      nodes_[count_ - 2].value += nodes_[count_ - 1].value;
      --count_;
    }
    return nodes_.front().value;
  }

  [[nodiscard]] bool empty() const noexcept { return count_ == 0; }
  [[nodiscard]] std::size_t size() const noexcept { return count_; }
  [[nodiscard]] Node& node(std::size_t i) { return nodes_[i]; }
  /// Forgets the sum, but not its memory.
  void clear() noexcept { count_ = 0; }

 private:
  static bool is_left(const Node& node, unsigned level, std::size_t index) {
    return node.level == level && node.index % 2 == 0 && node.index + 1 == index;
  }
  /// The last node has become its parent; perhaps that is the right child of the one before.
  template <typename Plus>
  void rise(Plus plus) {
    for (;;) {
      Node& last = nodes_[count_ - 1];
      ++last.level;
      last.index /= 2;
      if (count_ == 1 || !is_left(nodes_[count_ - 2], last.level, last.index)) return;
      plus(nodes_[count_ - 2].value, last.value);
      --count_;
    }
  }

  std::vector<Node> nodes_;  // those beyond count_ are memory to be used again
  std::size_t count_ = 0;
};

}  // namespace hqmm::detail
