// expect: name-expression 0
// name: scale<double>
template <class T> __global__ void scales(T* x) { x[0] = T(1); }
