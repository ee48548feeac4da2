// HQMM_API marks what a program may use: public headers open the namespace as
// `namespace HQMM_API hqmm {`. Everything else, hqmm::detail, stays inside the library.
#pragma once

#define HQMM_API [[gnu::visibility("default")]]
