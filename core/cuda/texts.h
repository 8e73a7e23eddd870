/* The texts that every program for a device is made of: the public headers that models include, and the product's own. */
#ifndef MILL_CUDA_TEXTS_H
#define MILL_CUDA_TEXTS_H

#include <stdint.h>
#include "cuda/program.h"

extern const struct mill_program_text mill_device_text[];
extern const uint32_t mill_device_text_count;

#endif
