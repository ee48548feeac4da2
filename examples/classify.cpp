// A classifier: one model for each class, learned together, and what its probabilities are worth on
// sequences that it has not seen.
#include <cstdio>
#include <hqmm/hqmm.hpp>

namespace {

/// Sequences of two processes, each with its class.
hqmm::SequenceSet labelled(std::uint64_t seed) {
  hqmm::SequenceSet out(hqmm::Alphabet::integers(2));
  for (const char* name : {"golden-mean", "even"}) {
    hqmm::SequenceSet drawn =
        hqmm::sample(hqmm::find_process(name)->model(), {.count = 60, .length = 40, .seed = seed});
    drawn.label_all(name);
    out.append(drawn);
  }
  return out;
}

}  // namespace

int main() {
  hqmm::ClassifierOptions options;
  options.train.latent_dim = 3;
  options.train.kraus_rank = 1;
  options.train.epochs = 10;
  options.train.batch_size = 20;
  options.dropout = 0.0;  // what a symbol says depends on those around it
  const hqmm::Classifier classifier = hqmm::fit_classifier(labelled(1), options);

  const hqmm::SequenceSet test = labelled(2);
  const hqmm::Posteriors posteriors = hqmm::posteriors_of(classifier, test);
  std::vector<std::uint32_t> classes;  // the numbers of the classifier's classes
  for (std::size_t i = 0; i < test.size(); ++i)
    classes.push_back(test.classes()[test.label(i)] == classifier.classes[0] ? 0 : 1);
  const hqmm::Classification figures = hqmm::judge(posteriors, classes, classifier.priors);
  std::printf("mean class error %.3f, log loss %.3f\n", figures.mean_class_error.value,
              figures.log_loss);
  hqmm::write_classifier("two_processes.h5", {classifier});
  return figures.mean_class_error.value < 0.5 ? 0 : 1;
}
