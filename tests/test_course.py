"""course.py: what can be checked without installing anything, and that the two lists of versions agree."""

import importlib.util
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture
def course(tmp_path, monkeypatch):
    """course.py as a module, standing in a folder of its own with a space in its name, its commands recorded."""
    root = tmp_path / "my course"
    root.mkdir()
    for name in ("requirements.txt", "pyproject.toml"):
        (root / name).write_bytes((ROOT / name).read_bytes())
    spec = importlib.util.spec_from_file_location("course", ROOT / "course.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    for name, path in {"ROOT": root, "VENV": root / ".venv", "NOTEBOOKS": ROOT / "notebooks"}.items():
        monkeypatch.setattr(module, name, path)
    monkeypatch.setattr(module, "PYTHON", root / ".venv/bin/python")
    monkeypatch.setattr(module, "STAMP", root / ".venv/course-ready")
    monkeypatch.setattr(module, "torch_index", lambda: [])
    module.commands = []

    def run(command, **_):
        module.commands.append([str(part) for part in command])
        if "venv" in command:
            module.PYTHON.parent.mkdir(parents=True)
            module.PYTHON.touch()
        return 0

    monkeypatch.setattr(module, "run", run)
    monkeypatch.setattr(module, "works", lambda python: python.is_file())
    return module


def installs(course):
    return sum("install" in command for command in course.commands)


def test_an_old_python_is_told_so():
    code = f"import sys; sys.version_info = (3, 10, 1); exec(open({str(ROOT / 'course.py')!r}).read())"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.returncode != 0
    assert "needs Python 3.11" in result.stderr and "3.10" in result.stderr and "Traceback" not in result.stderr


def test_the_first_call_makes_the_venv_and_the_second_reuses_it(course):
    course.set_up()
    assert [command[1:3] for command in course.commands] == [["-m", "venv"], ["-m", "pip"]]
    course.set_up()
    assert len(course.commands) == 2


def test_an_interrupted_install_is_taken_up_by_the_next_call(course, monkeypatch):
    whole = course.run

    def interrupted(command, **options):
        if "install" in command:
            raise KeyboardInterrupt
        return whole(command, **options)

    monkeypatch.setattr(course, "run", interrupted)
    with pytest.raises(KeyboardInterrupt):
        course.set_up()
    monkeypatch.setattr(course, "run", whole)
    course.set_up()
    assert installs(course) == 1


def test_a_half_made_venv_is_made_anew(course):
    course.VENV.mkdir()
    (course.VENV / "rubbish").touch()
    course.set_up()
    assert not (course.VENV / "rubbish").exists() and installs(course) == 1


@pytest.mark.parametrize("name", ["requirements.txt", "pyproject.toml"])
def test_changed_requirements_are_installed(course, name):
    course.set_up()
    with open(course.ROOT / name, "a") as file:
        file.write("\n# changed\n")
    course.set_up()
    assert installs(course) == 2


def test_a_moved_folder_is_set_up_again(course, monkeypatch):
    course.set_up()
    monkeypatch.setattr(course, "ROOT", course.ROOT.rename(course.ROOT.parent / "elsewhere"))
    monkeypatch.setattr(course, "STAMP", course.ROOT / ".venv/course-ready")
    assert course.STAMP.read_text() != course.fingerprint()


@pytest.mark.parametrize("name", ["03", "03_masking", "03_masking.ipynb", "notebooks/03_masking.ipynb"])
def test_a_notebook_is_found_by_any_of_its_names(course, name):
    assert course.find_notebook(name).name == "03_masking.ipynb"


def test_an_unknown_notebook_is_answered_with_the_list(course):
    with pytest.raises(SystemExit, match="01_by_hand"):
        course.find_notebook("99")


def test_an_unknown_command_is_answered_with_the_usage(course):
    with pytest.raises(SystemExit, match=r"course\.py lab"):
        course.main(["bake"])


def test_conda_and_pip_users_get_the_same_versions():
    pinned = dict(re.findall(r"^([\w-]+)==(\S+)", (ROOT / "requirements.txt").read_text(), re.M))
    conda = dict(re.findall(r"^ +- ([\w-]+)==?(\S+)", (ROOT / "environment.yml").read_text(), re.M))
    conda["torch"] = conda.pop("pytorch-cpu")
    conda.pop("python")
    assert conda == pinned


def test_presenting_writes_the_notes_and_begins_each_time_with_the_same_settings(course, monkeypatch):
    shutil.copytree(ROOT / "authors/present", course.ROOT / "authors/present")
    monkeypatch.setattr(course, "has_display", lambda: False)
    changed = course.VENV / "present/settings/jupyterlab-slideshow/plugin.jupyterlab-settings"
    changed.parent.mkdir(parents=True)
    changed.write_text('{"active": false}')  # the last lecture was left in the middle
    course.present(["03", "--port=9999"])
    notes, lab = course.commands
    assert notes[1:3] == ["-m", "authors.notes"] and notes[3].endswith("03_masking.ipynb")
    assert "/lab/tree/notebooks/03_masking.ipynb" in lab and lab[-1] == "--port=9999" and "03" not in lab
    assert json.loads(changed.read_text()) == {"active": True}
