from shop import price


def test_price():
    assert price(1) == 10
