// expect: missing-header 3
// hint: nothing else
#include "my_helpers.cuh"
