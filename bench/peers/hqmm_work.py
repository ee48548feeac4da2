"""Loss and gradient work as numpy arrays, and how far an answer is from ours."""
import numpy

from common import load

SHAPES = ((2, 1), (6, 1), (6, 4), (8, 4))


def complex_array(rows):
    return numpy.array(rows["re"]) + 1j * numpy.array(rows["im"])


class Work:
    def __init__(self, folder, n, w, batch):
        content = load(folder, f"gradient_n{n}_w{w}_B{batch}")
        self.case = f"gradient/auto/n={n}/w={w}/B={batch}"
        self.shape = (content["s"], w, n, n)
        self.operators = complex_array(content["gamma"]).reshape(self.shape)
        self.initial = complex_array(content["initial"])
        self.sequences = numpy.array(content["sequences"])
        self.loss = content["answer"]["loss"]
        self.gradient = complex_array(content["answer"]["gradient"]).reshape(self.shape)

    def error(self, loss, gradient):
        """The larger of the relative errors of loss and gradient."""
        distance = numpy.linalg.norm(gradient - self.gradient) / numpy.linalg.norm(self.gradient)
        return max(abs(loss / self.loss - 1.0), distance)
