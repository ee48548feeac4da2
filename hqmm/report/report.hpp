// One page about runs, models, reproductions, studies, cross-validations and classifiers: what a
// browser draws, as one JSON document, and the page around it.
//
// The page is made by report/ (npm) when hqmm is built; a build without it makes documents only.
// The page trusts nothing in a document: names from outside are only text there.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "hqmm/data/sequence_set.hpp"

namespace hqmm::detail {

/// Sequences that all models of a report are scored on.
struct ReportData {
  std::string name;
  SequenceSet set;
  std::size_t burn_in = 0;
};

struct ReportOptions {
  std::string title;               // empty: made of the first name
  std::vector<std::string> names;  // of the things, in order; where empty or missing, of their file
  std::optional<ReportData> data;  // without it there are no scores
  std::string truth;               // a model file: what made the data, scored with the others
  std::size_t most_epochs = 1000;  // of a restart that are drawn; the best one is among them
  int threads = 0;
  bool live = false;  // while a run trains: the page asks for more, the run's model is left out
};

/// The document of run folders, model and classifier files, and the JSON of `reproduce`, studies
/// and cross-validations, recognised by content. Throws kNoInput, kBadData, and kUsage for an empty
/// list.
[[nodiscard]] std::string report_document(const std::vector<std::string>& paths,
                                          const ReportOptions& options = {});

/// Whether this build can make pages.
[[nodiscard]] bool has_report_page();
/// A page that opens offline, with a document in it. Throws kUsage when has_report_page() is false.
[[nodiscard]] std::string report_page(const std::string& document);

}  // namespace hqmm::detail
