// Every command, in the order of the help.
#include "support/command.hpp"

namespace hqmm::cli {

void add_commands(Command program) {
  add_train(program);
  add_select(program);
  add_classify(program);
  add_score(program);
  add_baseline(program);
  add_predict(program);
  add_scan(program);
  add_sample(program);
  add_inspect(program);
  add_report(program);
  add_convert(program);
  add_export(program);
  add_generate(program);
  add_data(program);
  add_reproduce(program);
  add_completion(program);
  add_help(program);
  add_manual(program);
}

}  // namespace hqmm::cli
