# Compile options shared by every target of this project.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()
# -O3 pays in the engine and its kernels only (hqmm/CMakeLists.txt); elsewhere it buys compile time. Library and tests
# share one set of flags: they share templates too, and the linker keeps one copy of each.
string(REPLACE "-O3" "-O2" CMAKE_CXX_FLAGS_RELEASE "${CMAKE_CXX_FLAGS_RELEASE}")
# No object holds the path of its clone, so that ccache can give it to another one.
add_compile_options($<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=>-ffile-prefix-map=${CMAKE_SOURCE_DIR}=.)

# Debian's, which has the packages; another one may come first on PATH.
set(HQMM_PYTHON /usr/bin/python3 CACHE FILEPATH "Python with numpy, h5py and pytest")

find_program(HQMM_CCACHE ccache)
if(HQMM_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${HQMM_CCACHE})
endif()

add_library(hqmm_warnings INTERFACE)
set(warnings -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Wold-style-cast -Woverloaded-virtual
  -Wnull-dereference -Wimplicit-fallthrough $<$<BOOL:${HQMM_WERROR}>:-Werror>)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # GCC 12 sees phantom null and uninitialised reads and overlaps inside Eigen and std::string at -O3.
  list(APPEND warnings -Wno-null-dereference -Wno-maybe-uninitialized -Wno-restrict)
  # {.file = path} leaves the other fields at their defaults on purpose.
  list(APPEND warnings -Wno-missing-field-initializers)
endif()
target_compile_options(hqmm_warnings INTERFACE "$<$<COMPILE_LANGUAGE:C,CXX>:${warnings}>")

if(HQMM_SANITIZE)
  set(sanitizers -fsanitize=${HQMM_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  if(HQMM_SANITIZE MATCHES "undefined")
    # A third of the build. AddressSanitizer reports null pointers and accesses beyond an object itself; misaligned
    # accesses and wrong dynamic types are not looked for.
    list(APPEND sanitizers -fno-sanitize=null,object-size,alignment,vptr)
  endif()
  add_link_options(-fsanitize=${HQMM_SANITIZE})
  if(HQMM_BUILD_FUZZ)
    # What turns bytes into values is watched: the layers below, the parser of the command line, the targets. The
    # others, which take most of the time to compile, are as plain as can be, with assertions. libFuzzer counts the
    # branches that an input takes.
    set(HQMM_WATCHED_LAYERS data io run)
    set(HQMM_WATCHED ${sanitizers} -fsanitize=fuzzer-no-link)
  else()
    add_compile_options(${sanitizers})
  endif()
endif()
