# The page of reports (report/): npm's packages are fetched once into the build folder, then node writes the page as a
# source file. Without npm, or without what it fetches, hqmm is the same but for an empty page, and `hqmm report` says so.
set(HQMM_BUILD_REPORT ${PROJECT_IS_TOP_LEVEL} CACHE BOOL "Build the page of hqmm report, where npm is")

set(HQMM_REPORT_PAGE ${PROJECT_BINARY_DIR}/report/page.cpp)
set(report_sources ${PROJECT_SOURCE_DIR}/report)
set(report_packages ${PROJECT_BINARY_DIR}/report/packages)
set(report_ready FALSE)

if(HQMM_BUILD_REPORT)
  find_program(HQMM_NODE node)
  find_program(HQMM_NPM npm)
  if(HQMM_NODE AND HQMM_NPM)
    file(SHA256 ${report_sources}/package-lock.json lock)
    set(stamp ${report_packages}/${lock})
    if(NOT EXISTS ${stamp})
      file(REMOVE_RECURSE ${report_packages})
      foreach(name package.json package-lock.json .npmrc)
        configure_file(${report_sources}/${name} ${report_packages}/${name} COPYONLY)
      endforeach()
      execute_process(COMMAND ${HQMM_NPM} ci WORKING_DIRECTORY ${report_packages}
        RESULT_VARIABLE failed OUTPUT_QUIET ERROR_QUIET TIMEOUT 300)
      if(NOT failed)
        file(TOUCH ${stamp})
      endif()
    endif()
    if(EXISTS ${stamp})
      set(report_ready TRUE)
    else()
      message(STATUS "Without the page of reports: npm could not fetch its packages")
    endif()
  else()
    message(STATUS "Without the page of reports: it needs nodejs and npm")
  endif()
endif()

if(report_ready)
  file(GLOB_RECURSE report_files CONFIGURE_DEPENDS ${report_sources}/src/*)
  add_custom_command(OUTPUT ${HQMM_REPORT_PAGE}
    COMMAND ${HQMM_NODE} ${report_sources}/build.mjs ${HQMM_REPORT_PAGE} ${report_packages}
    DEPENDS ${report_files} ${report_sources}/build.mjs ${report_sources}/package-lock.json
    COMMENT "Building the page of reports" VERBATIM)
else()
  file(CONFIGURE OUTPUT ${HQMM_REPORT_PAGE} CONTENT [[#include "hqmm/report/page.hpp"

namespace hqmm::detail::report {

const std::string_view kPage;

}  // namespace hqmm::detail::report
]])
endif()
