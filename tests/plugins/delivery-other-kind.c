/* The file name says delivery, the descriptor synapse. */
#define NAME "other-kind"
#include "broken.h"
