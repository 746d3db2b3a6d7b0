// expect: missing-header 5
// hint: out of reach
// secret: root:
#define FILE_NAME "/etc/group"
#include FILE_NAME
