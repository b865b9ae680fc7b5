"""What takes a loop when a number is unknown."""


def _euclid(a, b):
    a, b = abs(a), abs(b)
    while b:
        a, b = b, a % b
    return a


def _multiple(a, b):
    divisor = _euclid(a, b)
    return abs(a // divisor * b) if divisor else 0
