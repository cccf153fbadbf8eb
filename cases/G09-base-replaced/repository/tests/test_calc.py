import unittest

from src import calc


class Add(unittest.TestCase):
    def test_two_and_three_make_five(self):
        self.assertEqual(calc.add(2, 3), 5)

    def test_zero_changes_nothing(self):
        self.assertEqual(calc.add(7, 0), 7)


if __name__ == "__main__":
    unittest.main()
