"""What teaches attention in a notebook: boards, exercises, questions, guesses, traces, plots."""

from importlib.util import find_spec

from . import missing

# What the extra `workbench` of pyproject.toml brings; without it the package has attn_lib, which needs torch alone.
_EXTRA = "numpy", "matplotlib", "PIL", "ipywidgets", "IPython", "traitlets", "anywidget", "filelock"

if _lacking := [name for name in _EXTRA if not find_spec(name)]:
    raise ModuleNotFoundError(
        f"workbench needs {', '.join(_lacking)}: install its extra, in the course's folder pip install '.[workbench]'.",
        name=_lacking[0],
    )
missing.watch()
