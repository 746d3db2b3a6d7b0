// expect: compile-error 3 12
extern "C" __global__ void k(float* x) {
	float z = nothing + x[0];
	x[0] = z;
}
