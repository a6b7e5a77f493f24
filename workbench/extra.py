"""Says which extra of the package is missing; read before anything that needs it. Without it the package is attn_lib.

Not in workbench itself: course.py imports that before anything is installed.
"""

from importlib.util import find_spec

MODULES = "numpy", "matplotlib", "PIL", "ipywidgets", "IPython", "traitlets", "anywidget", "filelock"

if lacking := [name for name in MODULES if not find_spec(name)]:
    raise ModuleNotFoundError(
        f"workbench needs {', '.join(lacking)}: install its extra, in the course's folder pip install '.[workbench]'.",
        name=lacking[0],
    )
