# What makes a memory error in a program that is handed files from anywhere harder to use: for optimised builds, every
# flag where compiler and linker take it (nvcc hands them to the host's compiler). tests/cli/test_hardening.py reads the
# result back.
include(CheckCXXCompilerFlag)
include(CheckCXXSourceCompiles)
include(CheckLinkerFlag)
include(CheckPIESupported)

# No build or installed file looks for libraries in folders of its own, least of all in the current one: CMake would
# leave room in the build tree's path for that of the installed file, and the loader takes an empty entry for ".".
set(CMAKE_BUILD_WITH_INSTALL_RPATH ON)

check_pie_supported(LANGUAGES CXX)

if(HQMM_SANITIZE OR NOT CMAKE_BUILD_TYPE MATCHES "^(Release|RelWithDebInfo|MinSizeRel)$")
  return()
endif()

# Where a function smashes its stack or jumps over its guard page; where a jump or a return goes astray.
foreach(flag -fstack-protector-strong -fstack-clash-protection -fcf-protection)
  string(MAKE_C_IDENTIFIER "HQMM_HAS${flag}" known)
  check_cxx_compiler_flag(${flag} ${known})
  if(${known})
    add_compile_options($<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=>${flag})
  endif()
endforeach()

# The C library's checked copies; a distribution's compiler may define its own level.
foreach(level 3 2)
  set(CMAKE_REQUIRED_FLAGS "-O2 -Werror -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=${level}")
  check_cxx_source_compiles("
    #include <cstdio>
    #if __USE_FORTIFY_LEVEL < ${level}
    #error unknown
    #endif
    int main() {}" HQMM_HAS_FORTIFY_${level})
  unset(CMAKE_REQUIRED_FLAGS)
  if(HQMM_HAS_FORTIFY_${level})
    foreach(flag -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=${level})
      add_compile_options($<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=>${flag})
    endforeach()
    break()
  endif()
endforeach()

# Everything the loader fills in is read-only before main; the stack is not executable.
foreach(flag -Wl,-z,relro -Wl,-z,now -Wl,-z,noexecstack)
  string(MAKE_C_IDENTIFIER "HQMM_HAS${flag}" known)
  check_linker_flag(CXX ${flag} ${known})
  if(${known})
    add_link_options(${flag})
  endif()
endforeach()
