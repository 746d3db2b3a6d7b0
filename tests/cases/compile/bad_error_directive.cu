// expect: compile-error 2
#error this file does not want to be compiled
