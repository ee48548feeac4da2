# What `cmake --install` leaves for find_package(hqmm). The targets and headers are installed where they are made.
include(CMakePackageConfigHelpers)
set(HQMM_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/hqmm)

# An installed executable finds a shared libhqmm in the folder of libraries, one in the build tree beside itself.
file(RELATIVE_PATH HQMM_BIN_TO_LIB ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR})
if(BUILD_SHARED_LIBS AND NOT CMAKE_INSTALL_RPATH)
  set(CMAKE_INSTALL_RPATH $ORIGIN $ORIGIN/${HQMM_BIN_TO_LIB})
  set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
endif()

configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/hqmmConfig.cmake.in
  ${PROJECT_BINARY_DIR}/cmake/hqmmConfig.cmake INSTALL_DESTINATION ${HQMM_CMAKE_DIR})
# Before 1.0 a new minor version may break its users.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/cmake/hqmmConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES
  ${PROJECT_BINARY_DIR}/cmake/hqmmConfig.cmake ${PROJECT_BINARY_DIR}/cmake/hqmmConfigVersion.cmake
  DESTINATION ${HQMM_CMAKE_DIR})
install(EXPORT hqmmTargets NAMESPACE hqmm:: DESTINATION ${HQMM_CMAKE_DIR})
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
