# Installs the build into a prefix of its own, builds the consumer against that and runs it.
function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status)
  if(NOT status EQUAL 0)
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "exit ${status}: ${command}")
  endif()
endfunction()

set(prefix ${WORK_DIR}/prefix)
file(REMOVE_RECURSE ${WORK_DIR})
run(${CMAKE_COMMAND} --install ${BUILD_DIR} --prefix ${prefix})
if(CLI)
  run(${prefix}/bin/hqmm --help)
endif()
file(READ ${CONSUMER_DIR}/../../../README.md readme)
string(REGEX MATCH "```cpp\n(.*)\n```\n\n```cmake" found "${readme}")
if(NOT found)
  message(FATAL_ERROR "README.md has no C++ example")
endif()
file(WRITE ${WORK_DIR}/readme.cpp "${CMAKE_MATCH_1}\n")
run(${CMAKE_COMMAND} -S ${CONSUMER_DIR} -B ${WORK_DIR}/build -G ${GENERATOR}
  -D CMAKE_BUILD_TYPE=${BUILD_TYPE} -D CMAKE_CXX_COMPILER=${CXX_COMPILER}
  -D CMAKE_CXX_COMPILER_LAUNCHER=${LAUNCHER} -D CMAKE_PREFIX_PATH=${prefix} -D HQMM_VERSION=${VERSION}
  -D README_EXAMPLE=${WORK_DIR}/readme.cpp)
run(${CMAKE_COMMAND} --build ${WORK_DIR}/build)
run(${WORK_DIR}/build/consumer)
execute_process(COMMAND ${WORK_DIR}/build/readme WORKING_DIRECTORY ${WORK_DIR} COMMAND_ERROR_IS_FATAL ANY)
