// The block that draws the last ticket has seen every other block's: it may put the counter back with a plain store.
// buffer: tickets inout i32 1
// buffer: y output i32 4
// launch: k grid=4 block=32 args=tickets,y
// expect: clean
// value: tickets[0] = 0
extern "C" __global__ void k(unsigned* tickets, int* y) {
    if (threadIdx.x != 0) return;
    const unsigned ticket = atomicInc(tickets, gridDim.x);
    y[blockIdx.x] = 1;
    if (ticket == gridDim.x - 1) *tickets = 0;
}
