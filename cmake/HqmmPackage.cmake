# ./dev package: one Debian package with the library, its headers, the command line, its pages and its completion.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME hqmm)
set(CPACK_PACKAGE_VENDOR "The hqmm developers")
set(CPACK_PACKAGE_CONTACT "The hqmm developers <hqmm@example.org>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "hidden quantum Markov models: command line, C++ library")
set(CPACK_PACKAGE_DESCRIPTION "Learns hidden quantum Markov models of sequences, scores, predicts, classifies and explains them.")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
# What the program loads is read from it; what headers and a static library need is named.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "openmpi-bin, g++, cmake, pkg-config, libeigen3-dev, libfmt-dev, libhdf5-dev, libmatio-dev, \
libnlopt-dev, libhwy-dev, libcurl4-gnutls-dev, nettle-dev, libseccomp-dev, zlib1g-dev, liblzma-dev, libbz2-dev, libzstd-dev")
include(CPack)
