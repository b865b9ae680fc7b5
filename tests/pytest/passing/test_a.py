def test_one():
    assert 1 + 1 == 2


def test_two():
    print("two speaks")
