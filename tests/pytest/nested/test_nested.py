import unittest


class TestOuter:
    class TestInner:
        def test_deep(self):
            pass

    def test_shallow(self):
        pass


class Old(unittest.TestCase):
    def test_old(self):
        self.assertEqual(1, 1)

    def test_old_fails(self):
        self.assertEqual([1], [2])

    @unittest.skip("old reason")
    def test_old_skip(self):
        pass

    @unittest.expectedFailure
    def test_old_expected(self):
        self.fail("as expected")
