import pytest

ODD = [
    "plain", "with space", "a/b", "a::b", "[brackets]", "semi;colon", "quote'd", 'double"d', "back\\slash", "dollar$HOME",
    "-dash", "--option=1", "@at", "star*", "percent%s", "new\nline", "tab\t", "é", "日本", "🎉", "`tick`", "pipe|and&", "<x>",
    "#hash", "a=b", "..", "../up", "~", "]", "[", "x-y", "",
]


@pytest.mark.parametrize("value", ODD, ids=ODD)
def test_odd(value):
    assert value is not None
