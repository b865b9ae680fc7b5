import pytest


@pytest.fixture
def broken():
    raise RuntimeError("setup is broken")


@pytest.fixture
def leaky():
    yield 1
    raise RuntimeError("teardown is broken")


def test_setup_error(broken):
    pass


def test_teardown_error(leaky):
    pass


def test_both(leaky):
    assert leaky == 2


@pytest.mark.xfail(reason="known")
def test_xfail():
    assert False


@pytest.mark.xfail(reason="fixed by now")
def test_xpass():
    pass


@pytest.mark.xfail(strict=True, reason="strictly known")
def test_xpass_strict():
    pass


@pytest.mark.xfail(run=False, reason="would hang")
def test_xfail_not_run():
    pass


@pytest.mark.skip(reason="not today")
def test_skip():
    pass


def test_skip_inside():
    pytest.skip("inside")


def test_passes():
    pass
