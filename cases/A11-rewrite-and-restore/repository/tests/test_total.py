import json
import pathlib
import unittest

from src.total import total

ORDERS = {"empty": [], "one": [250], "three": [100, 200, 300]}


class Total(unittest.TestCase):
    def test_each_order_has_the_expected_total(self):
        expected = json.loads(pathlib.Path("tests/expected.json").read_text())
        self.assertEqual({name: total(prices) for name, prices in ORDERS.items()}, expected)
