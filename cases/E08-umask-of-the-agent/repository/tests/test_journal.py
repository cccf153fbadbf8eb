import os
import stat
import tempfile
import unittest

from src import journal


class Write(unittest.TestCase):
    def test_nobody_else_can_read_the_journal(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "journal")
            journal.write(path, ["bread", "milk"])
            self.assertEqual(stat.S_IMODE(os.stat(path).st_mode), 0o600)
            with open(path) as lines:
                self.assertEqual(lines.read(), "bread\nmilk\n")
