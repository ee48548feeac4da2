# The GPU engine (hqmm/engine/cuda/): built where a CUDA compiler of version 12 or later is. Only the static runtime is
# linked, which looks for the driver when it is first used: the program starts on machines without one.
set(HQMM_CUDA AUTO CACHE STRING "Build the GPU engine: ON, OFF, AUTO (where CUDA 12 or later is)")
# Real code for each, and PTX of the last for what comes after it. The kernels need the FP64 products of sm_90.
set(HQMM_CUDA_ARCHITECTURES 90 CACHE STRING "GPU architectures, as CMAKE_CUDA_ARCHITECTURES takes them")

set(HQMM_HAS_CUDA FALSE)
if(NOT HQMM_CUDA OR (HQMM_CUDA STREQUAL "AUTO" AND (NOT PROJECT_IS_TOP_LEVEL OR HQMM_SANITIZE)))
  return()
endif()
if(NOT EXISTS ${PROJECT_SOURCE_DIR}/hqmm/engine/cuda/cuda_engine.cpp)
  return()
endif()

include(CheckLanguage)
check_language(CUDA)
if(CMAKE_CUDA_COMPILER)
  set(CMAKE_CUDA_ARCHITECTURES ${HQMM_CUDA_ARCHITECTURES})
  if(HQMM_CCACHE AND NOT CMAKE_CUDA_COMPILER_LAUNCHER)
    set(CMAKE_CUDA_COMPILER_LAUNCHER ${HQMM_CCACHE})
  endif()
  enable_language(CUDA)
  if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION) # CMake 3.25 does not know that nvcc has it
    set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20)
  endif()
  find_package(CUDAToolkit 12 QUIET)
  if(CMAKE_CUDA_COMPILER_VERSION VERSION_GREATER_EQUAL 12 AND CUDAToolkit_FOUND)
    set(HQMM_HAS_CUDA TRUE)
  endif()
endif()
if(HQMM_HAS_CUDA)
  set(HQMM_CUDA_VERSION ${CUDAToolkit_VERSION_MAJOR}.${CUDAToolkit_VERSION_MINOR})
  message(STATUS "With the GPU engine: CUDA ${HQMM_CUDA_VERSION}, architectures ${HQMM_CUDA_ARCHITECTURES}")
elseif(HQMM_CUDA STREQUAL "AUTO")
  message(STATUS "Without the GPU engine: it needs the CUDA toolkit, 12 or later")
else()
  message(FATAL_ERROR "HQMM_CUDA is ON, and there is no CUDA compiler of version 12 or later (CMAKE_CUDA_COMPILER)")
endif()

# hqmm_cuda_objects(NAME): everything in hqmm/engine/cuda but its stand-in, as objects.
function(hqmm_cuda_objects name)
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/hqmm/engine/cuda/*.cu ${PROJECT_SOURCE_DIR}/hqmm/engine/cuda/*.cpp)
  list(FILTER sources EXCLUDE REGEX "/absent[.]cpp$")
  add_library(${name} OBJECT ${sources})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR}/include)
  target_include_directories(${name} SYSTEM PRIVATE ${RANDOM123_INCLUDE_DIR})
  set_target_properties(${name} PROPERTIES CXX_VISIBILITY_PRESET hidden CUDA_VISIBILITY_PRESET hidden
    VISIBILITY_INLINES_HIDDEN ON)
  target_link_libraries(${name} PRIVATE CUDA::cudart_static Eigen3::Eigen fmt::fmt nlohmann_json::nlohmann_json Threads::Threads
    hqmm_warnings)
  set(flags -Xcompiler=-Wall,-Wextra,-Wno-unknown-pragmas --expt-relaxed-constexpr)
  target_compile_options(${name} PRIVATE "$<$<COMPILE_LANGUAGE:CUDA>:${flags}>"
    "$<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CONFIG:Release>>:-O3;-fno-stack-protector>")
endfunction()
