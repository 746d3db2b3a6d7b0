import numpy

x = numpy.load("x.npy")
numpy.save("y.npy", numpy.sqrt((x * x).sum(axis=1)))
