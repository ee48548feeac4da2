// Reports: the page of `hqmm report`, and the figures of a notebook.
#include "binding.hpp"
#include "hqmm/report/figure_disc.hpp"
#include "hqmm/report/figure_history.hpp"

namespace hqmm::python {
namespace {

/// The page about these files and folders; `names` are what it calls them, "" by their file.
void write_report(const std::vector<std::string>& paths, const std::vector<std::string>& names,
                  const std::string& title, const std::string& out) {
  ReportOptions options;
  options.title = title;
  options.names = names;
  write_file(out, report_page(report_document(paths, options)));
}

}  // namespace

void bind_report(py::module_& m) {
  m.def("has_report_page", &has_report_page);
  m.def("write_report", &write_report, py::arg("paths"), py::arg("names"), py::arg("title"),
        py::arg("out"));
  m.def("history_svg", &draw_history_svg, py::arg("title"), py::arg("history"),
        py::arg("file") = "history_");
  m.def("disc_svg", &draw_disc_svg, py::arg("title"), py::arg("values"));
}

}  // namespace hqmm::python
