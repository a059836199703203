from pkg.numbers import two as one_more

SIDE = 3


def square(x):
    return x**one_more()


def area(x):
    return square(x) * SIDE
