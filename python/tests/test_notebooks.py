"""The notebooks, run: each cell shows the text that it is kept with. A notebook whose packages are missing is skipped, and told.

FUSER_UPDATE_DOCS=1 keeps what they show now.
"""

import os
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "notebooks"))
import pages  # noqa: E402

NEEDS = {"jax_function.ipynb": "jax", "torch_compile.ipynb": "torch"}


def missing(path):
    try:
        __import__(NEEDS.get(path.name, "numpy"))
    except ImportError as error:
        return str(error)
    return None


class Notebooks(unittest.TestCase):
    def test_cells_show_what_is_kept(self):
        ran = 0
        for path in pages.notebooks():
            if why := missing(path):
                print(f"skipped: {why}; {path.name} is not run", flush=True)
                continue
            if os.environ.get("FUSER_UPDATE_DOCS"):
                pages.update(path)
            notebook = pages.read(path)
            for number, (cell, outputs) in enumerate(zip(pages.code_cells(notebook), pages.run(notebook)), 1):
                with self.subTest(notebook=path.name, cell=number):
                    self.assertEqual(pages.texts(cell["outputs"]), pages.texts(outputs))
            ran += 1
        self.assertGreater(ran, 0)

    def test_a_wrong_output_is_seen(self):
        cell = {"cell_type": "code", "source": ["print(1)\n", "1 + 1"]}
        self.assertEqual(pages.texts(pages.run({"cells": [cell]})[0]), [["1\n"], ["2"]])
        self.assertIn("```text\n2\n```", pages.page({"cells": [cell | {"outputs": pages.run({"cells": [cell]})[0]}]}))


if __name__ == "__main__":
    unittest.main()
