def test_first():
    pass


def test_interrupts():
    raise KeyboardInterrupt


def test_never():
    pass
