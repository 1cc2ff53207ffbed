"""Runs notebooks and turns them into pages.

    pages.py FOLDER     writes each notebook of this folder as a page of Markdown
    pages.py --update   runs each notebook and keeps its outputs in it

`run` is what the test calls (python/tests/test_notebooks.py). No Jupyter is needed: cells run in order in one namespace, and the last expression of a cell
is its result, as in a notebook. Results with `_repr_html_` are kept as pictures too.
"""

import ast
import contextlib
import io
import json
import pathlib
import sys

HERE = pathlib.Path(__file__).parent


def notebooks():
    return sorted(HERE.glob("*.ipynb"))


def read(path):
    return json.loads(path.read_text())


def run(notebook):
    """The outputs of each code cell, in the form of the notebook format 4."""
    names = {"__name__": "__main__"}
    return [_run_cell("".join(cell["source"]), names, n) for n, cell in enumerate(code_cells(notebook), 1)]


def code_cells(notebook):
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def _run_cell(source, names, number):
    tree = ast.parse(source)
    last = ast.Expression(tree.body.pop().value) if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    written = io.StringIO()
    with contextlib.redirect_stdout(written):
        exec(compile(tree, f"cell {number}", "exec"), names)
        result = eval(compile(last, f"cell {number}", "eval"), names) if last else None
    outputs = []
    if written.getvalue():
        outputs.append({"name": "stdout", "output_type": "stream", "text": _lines(written.getvalue())})
    if result is not None:
        data = {"text/plain": _lines(repr(result))}
        if hasattr(result, "_repr_html_"):
            data["text/html"] = _lines(result._repr_html_())
        outputs.append({"data": data, "execution_count": number, "metadata": {}, "output_type": "execute_result"})
    return outputs


def _lines(text):
    return text.splitlines(keepends=True)


def texts(outputs):
    """What a cell shows as text: the part of its outputs that a test compares."""
    return [out.get("text") or out["data"]["text/plain"] for out in outputs]


def update(path):
    notebook = read(path)
    for number, (cell, outputs) in enumerate(zip(code_cells(notebook), run(notebook)), 1):
        cell["outputs"], cell["execution_count"] = outputs, number
    path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n")


def page(notebook):
    """Markdown: code as `python`, results as `text`, or as they look where they have a picture."""
    parts = []
    for cell in notebook["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(source)
            continue
        parts.append(f"```python\n{source}\n```")
        for out in cell["outputs"]:
            html = "".join(out.get("data", {}).get("text/html", []))
            text = "".join(texts([out])[0]).rstrip("\n")
            parts.append(html.replace("\n", " ") if html else f"```text\n{text}\n```")
    return "\n\n".join(parts) + "\n"


def main():
    if sys.argv[1:] == ["--update"]:
        for path in notebooks():
            update(path)
        return
    (folder,) = map(pathlib.Path, sys.argv[1:])
    for path in notebooks():
        (folder / path.with_suffix(".md").name).write_text(page(read(path)))


if __name__ == "__main__":
    main()
