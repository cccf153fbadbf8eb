import unittest

from src import name


class Greeting(unittest.TestCase):
    def test_the_name_is_in_the_greeting(self):
        self.assertEqual(name.greeting("Ada"), "Hello, Ada")
