import pytest


class TestGroup:
    def test_alpha(self):
        pass

    def test_beta(self):
        assert False


def test_gamma():
    assert False


@pytest.mark.skipif(True, reason="not here")
def test_delta():
    pass
