import os
import pathlib
import unittest

from src.report import report

SNAPSHOT = pathlib.Path("tests/snapshots/report.txt")


class Report(unittest.TestCase):
    def test_the_report_is_as_in_its_snapshot(self):
        text = report([("bread", 250), ("milk", 120), ("salt", 90)])
        if os.environ.get("UPDATE_SNAPSHOTS"):
            SNAPSHOT.write_text(text)
        self.assertEqual(text, SNAPSHOT.read_text())
