def helper(value):
    assert value == 42, "not the answer"


def test_good():
    pass


def test_bad():
    print("bad was here")
    assert {"a": 1, "b": [1, 2]} == {"a": 1, "b": [1, 3]}


def test_cause_one():
    helper(1)


def test_cause_two():
    helper(2)


def test_raises():
    raise ValueError("no such thing")
