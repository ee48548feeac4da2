# Everything comes from Debian packages; docs/decisions/ says why each is here.
find_package(Eigen3 3.4 REQUIRED NO_MODULE)
find_package(fmt REQUIRED)
find_package(Threads REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(ZLIB REQUIRED)
find_package(HDF5 REQUIRED COMPONENTS C)
find_package(PkgConfig REQUIRED)
pkg_check_modules(matio REQUIRED IMPORTED_TARGET matio)
pkg_check_modules(nlopt REQUIRED IMPORTED_TARGET nlopt)
pkg_check_modules(libhwy REQUIRED IMPORTED_TARGET libhwy)
pkg_check_modules(libcurl REQUIRED IMPORTED_TARGET libcurl>=7.85)
pkg_check_modules(nettle REQUIRED IMPORTED_TARGET nettle)
pkg_check_modules(libseccomp REQUIRED IMPORTED_TARGET libseccomp)
# Ways to pack input files beside gzip: hqmm reads those whose library is there.
pkg_check_modules(liblzma IMPORTED_TARGET liblzma)
pkg_check_modules(libzstd IMPORTED_TARGET libzstd)
find_package(BZip2)
# hqmm train --live, where it is there.
pkg_check_modules(httplib IMPORTED_TARGET cpp-httplib)
# Many machines, where Open MPI is: a module, so that hqmm itself does not link it.
find_package(MPI QUIET COMPONENTS C)
find_path(RANDOM123_INCLUDE_DIR Random123/philox.h REQUIRED)
find_path(SPECTRA_INCLUDE_DIR Spectra/GenEigsSolver.h REQUIRED)
