// The values of options: alphabets, groupings, positions, formats, and every row of the tables of
// options.
#include "hqmm/data/alphabet.hpp"
#include "hqmm/data/folds.hpp"
#include "hqmm/data/position_plan.hpp"
#include "hqmm/io/sequences.hpp"
#include "hqmm/learn/option_table.hpp"
#include "target.hpp"

namespace hqmm::fuzz {
namespace {

template <typename Options>
void set_each(const OptionTable<Options>& table, std::string_view text) {
  for (const OptionRow<Options>& row : table) {
    Options options;
    read_or_refuse([&] {
      set_option(row, options, parsed(row, text));
      if (fault_in(row, value_text(row.get(options))) != "" && row.type != OptionType::kText)
        bug("an option refuses its own value");
    });
  }
}

}  // namespace

void values(std::string_view bytes) {
  read_or_refuse([&] { (void)Alphabet::parse(bytes); });
  read_or_refuse([&] { (void)Grouping::parse(bytes); });
  read_or_refuse([&] { (void)PositionPlan::parse(bytes); });
  read_or_refuse([&] { (void)parse<Format>(bytes); });
  set_each(train_option_table(), bytes);
  set_each(classifier_option_table(), bytes);
}

}  // namespace hqmm::fuzz
