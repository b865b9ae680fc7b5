import unittest


class Sub(unittest.TestCase):
    def test_all_good(self):
        for n in range(3):
            with self.subTest(n=n):
                self.assertLess(n, 3)

    def test_some_bad(self):
        for n in range(4):
            with self.subTest(n=n):
                self.assertEqual(n % 2, 0)
