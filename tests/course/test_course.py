"""course.py as somebody at a terminal meets it: what each command runs, where, with which exit code; and the set-up.

Nothing is installed here. Commands are run as processes in a copy of the course whose .venv holds a shell script
instead of Python, which notes how it was called; the set-up is tried as a module whose commands are recorded.
"""

import ast
import contextlib
import importlib.util
import io
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tomllib
from pathlib import Path
from unittest import mock

import nbformat
import preloaded_kernels
import pytest
from lab_page import write_notebook
from paths import ROOT

LISTS = ["requirements.txt", "authors/requirements.txt", "deploy/requirements.txt"]
FAKE_PYTHON = """#!/bin/sh
printf '%s|' "$PWD" "$OMP_NUM_THREADS" "$ATEN_CPU_CAPABILITY" "$PYTHONPATH" >> "{root}/calls"
for part in "$@"; do printf '%s\\t' "$part" >> "{root}/calls"; done
echo >> "{root}/calls"
{then}
"""


def load(path=ROOT / "commands.py"):
    spec = importlib.util.spec_from_file_location("course", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def lay_out(root):
    """A copy of what course.py needs, in a folder with a space in its name."""
    (root / "authors").mkdir(parents=True)
    (root / "deploy").mkdir()
    for name in ("course.py", "commands.py", "pyproject.toml", "jupyterlab.json", *LISTS):
        shutil.copy(ROOT / name, root / name)
    (root / "notebooks").mkdir()
    (root / "tests").mkdir()
    for path in (ROOT / "notebooks").glob("*.ipynb"):
        shutil.copy(path, root / "notebooks")
    for name in (
        "benchmarks/bench_one.py",
        "benchmarks/bench_two.py",
        "tests/test_three.py",
        "deploy/check_requirements.py",
    ):
        (root / name).touch()
    return root


# ------------------------------------------------------------------------------------------------- commands


class Call:
    """How the Python in .venv was called."""

    def __init__(self, line):
        self.folder, self.threads, self.processor, self.path, command = line.split("|")
        self.command = command.split("\t")[:-1]


class Terminal:
    """A copy of the course that is set up, with a .venv whose Python only notes that it was called."""

    UNSET = ("DISPLAY", "WAYLAND_DISPLAY", "PYTHONPATH", "OMP_NUM_THREADS")  # of whoever runs the tests

    def __init__(self, root):
        self.root = root
        course = load(root / "commands.py")
        self.answers("exit 0")
        for part in course.PARTS:
            (course.VENV / f"{part}-ready").write_text(course.fingerprint(part))

    def answers(self, then):
        """From now on the Python in .venv does this, in the shell's language."""
        python = self.root / ".venv/bin/python"
        python.parent.mkdir(parents=True, exist_ok=True)
        python.write_text(FAKE_PYTHON.format(root=self.root, then=then))
        python.chmod(0o755)

    def type(self, *arguments, folder=None, **variables):
        """Call course.py; returns the calls of .venv's Python, and keeps the exit code and what was printed."""
        environment = {k: v for k, v in os.environ.items() if k not in self.UNSET}
        result = subprocess.run(
            [sys.executable, self.root / "course.py", *arguments],
            cwd=folder or self.root,
            env={**environment, **variables},
            capture_output=True,
            text=True,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # Ctrl-C counts in a background job too
        )
        self.code, self.printed = result.returncode, result.stdout + result.stderr
        calls = self.root / "calls"
        lines = calls.read_text().splitlines() if calls.exists() else []
        calls.unlink(missing_ok=True)
        return [Call(line) for line in lines]


@pytest.fixture
def terminal(tmp_path):
    if os.name == "nt":
        pytest.skip("the Python that notes its calls is a shell script")
    return Terminal(lay_out(tmp_path / "my course"))


@pytest.mark.parametrize("newer", ["", "python3.12", "python3.11 python3.13"])
def test_an_old_python_is_told_which_one_to_take_and_nothing_is_set_up(tmp_path, newer):
    for name in newer.split():
        (tmp_path / name).write_text("#!/bin/sh\n")
        (tmp_path / name).chmod(0o755)
    (tmp_path / "python3").write_text("#!/bin/sh\nexit 127\n")  # as pyenv's, which only says what there would be
    (tmp_path / "python3").chmod(0o755)
    script = tmp_path / "course.py"
    shutil.copy(ROOT / "course.py", script)
    code = "import sys; sys.version_info = (3, 10, 1); sys.argv = ['course.py', 'hub']; "
    code += f"exec(open({str(script)!r}).read())"
    environment = {**os.environ, "PATH": str(tmp_path)}
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment)
    first, then = result.stderr.splitlines()
    assert result.returncode == 1 and first == "This course needs Python 3.11 or newer; this is Python 3.10."
    if newer:
        assert then == f"This machine has one: {newer.split()[-1]} course.py hub"
    else:
        assert "python.org/downloads" in then and "apt-get install python3.11 " in then
        assert then.endswith("then: python3.11 course.py hub")
    assert not (tmp_path / ".venv").exists()


def test_python_2_can_read_what_tells_it_that_it_is_too_old():
    text = (ROOT / "course.py").read_text(encoding="utf-8")
    newer = ast.JoinedStr, ast.Starred, ast.NamedExpr, ast.AnnAssign, ast.AsyncFunctionDef, ast.Nonlocal, ast.Match
    assert "coding: utf-8" in text.split("\n")[0]
    nodes = list(ast.walk(ast.parse(text)))
    starred = {id(argument) for node in nodes if isinstance(node, ast.Call) for argument in node.args[-1:]}
    assert not [node for node in nodes if isinstance(node, newer) and id(node) not in starred]
    assert not any(node.kwonlyargs or node.posonlyargs for node in nodes if isinstance(node, ast.arguments))


@pytest.mark.parametrize("arguments", [[], ["bake"]])
def test_no_command_and_an_unknown_one_are_answered_with_the_usage(terminal, arguments):
    assert terminal.type(*arguments) == []
    assert terminal.code == 1 and "python course.py lab" in terminal.printed
    assert ("no command 'bake'" in terminal.printed) == bool(arguments)


def test_the_usage_names_every_command():
    usage = set(re.findall(r"^python course\.py (\w+)", load(ROOT / "course.py").__doc__, re.M))
    assert usage == {"lab", "test", "present", "slides", "site", "refresh", "minutes", "bench", "grade", "hub"}


COMMANDS = ["lab", "test", "present", "slides", "site", "refresh", "minutes", "bench", "grade", "hub"]


@pytest.mark.parametrize("command", COMMANDS)
def test_what_a_command_runs_decides_its_exit_code(terminal, command):
    terminal.type(command)
    assert terminal.code == 0, terminal.printed
    terminal.answers('case "$2" in *copies) exit 0;; esac; exit 3')
    terminal.type(command)
    assert terminal.code == 3, terminal.printed
    assert "Traceback" not in terminal.printed


def test_ctrl_c_ends_a_command_without_a_traceback(terminal):
    terminal.answers("kill -INT $PPID")
    terminal.type("test")
    assert terminal.code == 130 and "Traceback" not in terminal.printed


def test_test_runs_pytest_on_notebooks_and_tests_with_what_is_asked_for(terminal):
    (call,) = terminal.type("test", "-k", "masks", "tests/attn_lib/test_masks.py", folder=terminal.root.parent)
    assert call.command == ["-m", "pytest", "-k", "masks", "tests/attn_lib/test_masks.py"]
    assert (call.folder, call.threads) == (str(terminal.root), "1")
    options = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["pytest"]["ini_options"]
    assert options["testpaths"] == ["notebooks", "tests"]
    assert "--nbval " in options["addopts"] and "lax" not in options["addopts"]


def test_a_thorough_test_runs_the_notebooks_on_a_lesser_processor_too(terminal):
    first, second = terminal.type("test", "--thorough", "-x")
    assert first.command == ["-m", "pytest", "-x"] and first.processor == ""
    assert second.command == ["-m", "pytest", "notebooks"]
    assert (second.processor, second.threads) == ("default", "2")


@pytest.mark.parametrize("failing", ["default", ""])
def test_a_thorough_test_fails_when_either_run_does(terminal, failing):
    terminal.answers(f'[ "$ATEN_CPU_CAPABILITY" = "{failing}" ] && exit 1; exit 0')
    assert len(terminal.type("test", "--thorough")) == 2
    assert terminal.code == 1


def test_slides_are_written_of_the_notebooks_named_or_of_all(terminal):
    (call,) = terminal.type("slides", "03", "notebooks/01_by_hand.ipynb", folder=terminal.root.parent)
    assert call.command[:2] == ["-m", "authors.deck.build"] and call.folder == str(terminal.root)
    assert [Path(path).name for path in call.command[2:]] == ["03_masking.ipynb", "01_by_hand.ipynb"]
    (call,) = terminal.type("slides")
    assert call.command == ["-m", "authors.deck.build"]  # which takes all, where none is named
    assert call.threads == "1"


def test_site_passes_its_arguments_on(terminal):
    (call,) = terminal.type("site", "-n", folder=terminal.root.parent)
    assert (
        call.command == ["-m", "authors.site.sphinx_site", "-n"]
        and call.folder == str(terminal.root)
        and call.threads == "1"
    )


def test_bench_runs_every_benchmark_and_the_worst_exit_code_counts(terminal):
    terminal.answers('case "$1" in *bench_one.py) exit 2;; esac; exit 0')
    calls = terminal.type("bench", "--quick")
    assert [(Path(call.command[0]).name, call.command[1:]) for call in calls] == [
        ("bench_one.py", ["--quick"]),
        ("bench_two.py", ["--quick"]),
    ]
    assert terminal.code == 2


def test_a_folder_to_be_graded_is_the_callers(terminal, tmp_path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (call,) = terminal.type("grade", "handed in", "--out", "x", folder=elsewhere, PYTHONPATH="mine")
    assert call.command == ["-m", "authors.grade", "handed in", "--out", "x"]
    assert call.folder == str(elsewhere)
    assert call.path.split(os.pathsep) == [str(terminal.root), "mine"]  # where `authors` is found
    terminal.answers("kill -9 $$")  # as a hand-in may
    terminal.type("grade", "handed in", folder=elsewhere)
    assert terminal.code and "Call it again" in terminal.printed


def test_the_hub_gets_its_words_where_the_caller_stands(terminal, tmp_path):
    (call,) = terminal.type("hub", "add", "class.csv", folder=tmp_path)
    assert call.command == [str(terminal.root / "deploy/cli.py"), "add", "class.csv"]
    assert call.folder == str(tmp_path)


def test_what_a_machine_lacks_is_said_before_a_hub_is_set_up(terminal):
    (terminal.root / "deploy/check_requirements.py").write_text("import sys; sys.exit('No node for ' + sys.argv[1])")
    (terminal.root / ".venv/hub-ready").unlink()
    assert terminal.type("hub") == []
    assert (terminal.code, terminal.printed) == (1, f"No node for {terminal.root / '.venv/bin/python'}\n")
    terminal.type("lab")  # which needs none
    assert terminal.code == 0
    shutil.rmtree(terminal.root / ".venv")
    assert terminal.type("hub") == [] and terminal.printed == f"No node for {sys.executable}\n"


def test_refresh_is_handed_to_the_python_that_has_what_it_needs(terminal):
    (call,) = terminal.type("refresh", "03")
    assert call.command == [str(terminal.root / "course.py"), "refresh", "03"] and call.threads == "1"


def test_presenting_serves_the_deck_of_the_notebook_named_or_of_the_first(terminal):
    def served(call):
        assert call.command[:2] == ["-m", "authors.deck.serve"] and call.folder == str(terminal.root)
        return [Path(call.command[2]).name, *(part for part in call.command[3:] if part != "--allow-root")]

    (call,) = terminal.type("present", "03", "--port=9999", folder=terminal.root.parent)
    assert served(call) == ["03_masking.ipynb", "--no-browser", "--port=9999"]  # there is no screen
    (call,) = terminal.type("present", DISPLAY=":0")
    assert served(call) == ["01_by_hand.ipynb"]


def lab_options(terminal, *arguments, **variables):
    *before, call = terminal.type("lab", *arguments, **variables)
    assert call.command[:2] == ["-m", "jupyterlab"]
    copies = [made.command for made in before]
    assert all(command[:2] == ["-m", "workbench.copies"] for command in copies)
    return call.command[2:], [command[1:] for command in copies]


@pytest.mark.parametrize(
    "arguments, page, copies",
    [
        ([], "my/01_by_hand", [[]]),
        (["04"], "my/04_multi_head", [[]]),
        (["my/04_multi_head.ipynb"], "my/04_multi_head", [[]]),
        (["--fresh", "03"], "my/03_masking", [["--fresh", "03_masking"]]),
        (["03", "--fresh"], "my/03_masking", [["--fresh", "03_masking"]]),
        (["--edit", "03"], "notebooks/03_masking", []),
        (["--edit"], "notebooks/01_by_hand", []),
    ],
)
def test_lab_opens_the_learners_copy_or_the_tested_edition(terminal, arguments, page, copies):
    options, made = lab_options(terminal, *arguments)
    assert f"/lab/tree/{page}.ipynb" in options and made == copies
    assert options[options.index("--ServerApp.root_dir") + 1] == str(terminal.root)
    assert not {"--edit", "--fresh", *arguments} & set(options)
    assert Path(options[options.index("--LabApp.workspaces_dir") + 1]).is_relative_to(terminal.root / "my")


def test_lab_passes_options_on(terminal):
    assert lab_options(terminal, "--port=9999")[0][-1] == "--port=9999"
    options, _ = lab_options(terminal, "04", "--port", "9999")
    assert options[-2:] == ["--port", "9999"] and "04" not in options


def test_a_copy_that_cannot_be_made_or_begun_again_opens_nothing(terminal):
    assert terminal.type("lab", "--fresh") == [] and terminal.code == 1 and "--fresh 03" in terminal.printed
    terminal.answers("exit 3")
    (call,) = terminal.type("lab")
    assert call.command[:2] == ["-m", "workbench.copies"] and terminal.code != 0


def test_lab_opens_a_browser_where_there_is_a_screen(terminal):
    assert "--no-browser" in lab_options(terminal)[0]
    if sys.platform == "linux":
        assert "--no-browser" not in lab_options(terminal, DISPLAY=":0")[0]
        assert "--no-browser" not in lab_options(terminal, WAYLAND_DISPLAY="wayland-0")[0]


@pytest.mark.parametrize("user", [0, 1000])
def test_lab_starts_for_root_too_as_in_a_container(course, monkeypatch, user):
    monkeypatch.setattr(os, "geteuid", lambda: user, raising=False)
    course.lab([])
    assert ("--allow-root" in course.commands[-1]) == (user == 0)


@pytest.mark.parametrize("name", ["03", "03_masking", "03_masking.ipynb", "notebooks/03_masking.ipynb"])
def test_a_notebook_is_found_by_any_of_its_names(course, name):
    assert course.find_notebook(name).name == "03_masking.ipynb"


@pytest.mark.parametrize("name", ["99", "0"])
def test_a_name_of_no_notebook_or_of_several_is_answered_with_the_list(course, name):
    with pytest.raises(SystemExit, match="01_by_hand, 02_scaled_dot_product"):
        course.find_notebook(name)


# -------------------------------------------------------------------------------------------------- refresh


def test_refresh_saves_what_ran_and_leaves_what_failed(course, monkeypatch, tmp_path, capsys):
    folder = tmp_path / "lessons"
    folder.mkdir()
    monkeypatch.setattr(course, "VENV", Path(sys.prefix))
    monkeypatch.setattr(course, "NOTEBOOKS", folder)
    kept = "len(os.listdir(os.environ['ATTENTION_PROGRESS']))"
    widget = "import os\nfrom ipywidgets import IntSlider\nIntSlider()"
    write_notebook(folder / "01_good.ipynb", f"{widget}\n---\nprint(os.path.basename(os.getcwd()))\n---\n{kept}")
    write_notebook(folder / "02_bad.ipynb", "1\n---\n1 / 0")
    write_notebook(folder / "03_other.ipynb", "1")
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    with preloaded_kernels.kernels():
        assert course.refresh(["02", "01"]) == 1
    after = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert after["02_bad.ipynb"] == before["02_bad.ipynb"] and after["03_other.ipynb"] == before["03_other.ipynb"]
    printed = capsys.readouterr().out
    assert "02_bad.ipynb … failed" in printed and "ZeroDivisionError" in printed and "01_good.ipynb … saved" in printed
    notebook = nbformat.read(folder / "01_good.ipynb", as_version=4)
    assert [cell.execution_count for cell in notebook.cells] == [1, 2, 3]
    assert notebook.cells[1].outputs[0].text == "lessons\n"  # it ran where it lies
    assert notebook.cells[2].outputs[0].data["text/plain"] == "0" and "ATTENTION_PROGRESS" not in os.environ
    assert "version" not in notebook.metadata.language_info
    assert "application/vnd.jupyter.widget-view+json" in notebook.cells[0].outputs[0].data
    assert "widgets" not in notebook.metadata  # the state of which is another each time
    assert not any("execution" in cell.metadata for cell in notebook.cells)  # no times
    assert after["01_good.ipynb"].endswith(b"}\n") and b"\r" not in after["01_good.ipynb"]
    with preloaded_kernels.kernels():
        course.refresh(["01"])
    assert (folder / "01_good.ipynb").read_bytes() == after["01_good.ipynb"]  # a diff shows what changed


def test_what_jupyter_would_not_take_is_not_saved_and_a_slow_machine_has_time(course, monkeypatch, tmp_path):
    monkeypatch.setattr(course, "VENV", Path(sys.prefix))
    monkeypatch.setattr(course, "NOTEBOOKS", tmp_path)
    limits = []
    monkeypatch.setattr("nbclient.NotebookClient.execute", lambda client: limits.append(client.timeout))
    write_notebook(tmp_path / "01_odd.ipynb", "1")
    before = (tmp_path / "01_odd.ipynb").read_text().replace('"source": ', '"unheard_of": 1, "source": ')
    (tmp_path / "01_odd.ipynb").write_text(before)
    with pytest.raises(nbformat.ValidationError, match="unheard_of"):
        course.refresh(["01"])
    assert (tmp_path / "01_odd.ipynb").read_text() == before and limits[0] >= 60


# --------------------------------------------------------------------------------------------------- set-up


@pytest.fixture
def course(tmp_path, monkeypatch):
    """course.py as a module, standing in a folder of its own, its commands recorded."""
    root = lay_out(tmp_path / "my course")
    module = load(root / "commands.py")
    module.commands, module.fails = [], lambda command: False
    monkeypatch.setattr(module, "torch_index", lambda: [])
    monkeypatch.setattr(shutil, "which", lambda name: None)

    def run(command, *, check=True, **_):
        command = [str(part) for part in command]
        module.commands.append(command)
        if "venv" in command:
            module.PYTHON.parent.mkdir(parents=True)
            module.PYTHON.touch()
        if module.fails(command):
            return 2 if not check else sys.exit(2)
        return 0

    monkeypatch.setattr(module, "run", run)
    monkeypatch.setattr(module, "works", lambda python: python.is_file())
    return module


def installed(course):
    """The lists that were installed, in order."""
    return [command[-1] for command in course.commands if "install" in command]


def test_the_first_call_makes_the_venv_and_the_second_reuses_it(course):
    course.set_up()
    assert [command[1:3] for command in course.commands] == [["-m", "venv"], ["-m", "pip"]]
    course.set_up()
    assert len(course.commands) == 2


def test_a_venv_whose_python_is_gone_is_made_anew(course):
    course.set_up()
    course.PYTHON.unlink()
    course.set_up()
    assert course.PYTHON.is_file() and installed(course) == ["requirements.txt"] * 2


def test_how_much_is_set_up_is_said_before(course, capsys):
    course.set_up("authors")
    learners, _, authors, _ = capsys.readouterr().out.splitlines()
    assert "for learners (once; a few minutes, about 1.3 GB)" in learners and "for authors (once; a minute)" in authors


@pytest.mark.parametrize("command", COMMANDS)
def test_learners_get_what_a_learner_needs_and_other_commands_add_the_rest(course, command):
    further = {"lab": [], "hub": ["deploy/requirements.txt"]}.get(command, ["authors/requirements.txt"])
    for _ in range(2):
        course.main([command])
        assert installed(course) == ["requirements.txt", *further]


def test_every_package_is_pinned_once_and_learners_get_no_tools_of_authors():
    pins = [re.findall(r"^([\w-]+)==", (ROOT / name).read_text(), re.M) for name in LISTS]
    assert not set(pins[0]) & set(pins[1]) and not set(pins[0] + pins[1]) & set(pins[2])
    assert not set(pins[0]) & {"playwright", "sphinx", "ruff", "pytest"}
    assert "-e ." in (ROOT / LISTS[0]).read_text().splitlines()


@pytest.mark.parametrize("whole", ["install", "venv"])
def test_what_was_interrupted_or_failed_is_taken_up_by_the_next_call(course, whole):
    course.fails = lambda command: whole in command
    with pytest.raises(SystemExit):
        course.set_up()
    course.fails = lambda command: False
    course.commands.clear()
    course.set_up()
    assert installed(course) == ["requirements.txt"]
    course.set_up()
    assert installed(course) == ["requirements.txt"]


def test_an_update_that_was_interrupted_is_taken_up_although_the_old_list_comes_back(course):
    course.set_up()
    list_of_learners = course.ROOT / "requirements.txt"
    before = list_of_learners.read_text()
    list_of_learners.write_text(before + "\n# changed\n")
    course.fails = lambda command: "install" in command
    with pytest.raises(SystemExit):
        course.set_up()
    course.fails = lambda command: False
    list_of_learners.write_text(before)
    course.set_up()
    assert installed(course) == ["requirements.txt"] * 3


def test_a_half_made_venv_is_made_anew(course):
    course.VENV.mkdir()
    (course.VENV / "rubbish").touch()
    course.set_up()
    assert not (course.VENV / "rubbish").exists() and installed(course) == ["requirements.txt"]


def test_a_venv_that_works_is_kept_when_the_list_changes(course):
    course.set_up()
    (course.VENV / "what the learner installed").touch()
    (course.ROOT / "requirements.txt").write_text("torch\n")
    course.set_up()
    assert (course.VENV / "what the learner installed").exists()


@pytest.mark.parametrize(
    ("name", "again"),
    [
        ("requirements.txt", ["requirements.txt"]),
        ("pyproject.toml", ["requirements.txt"]),
        ("authors/requirements.txt", ["authors/requirements.txt"]),
    ],
)
def test_a_changed_list_is_installed_and_no_other(course, name, again):
    course.set_up("authors")
    with open(course.ROOT / name, "a") as file:
        file.write("\n# changed\n")
    course.commands.clear()
    course.set_up("authors")
    assert installed(course) == again


def test_a_moved_folder_and_another_python_are_set_up_again(course, monkeypatch):
    course.set_up()
    monkeypatch.setattr(course, "ROOT", course.ROOT.rename(course.ROOT.parent / "elsewhere"))
    monkeypatch.setattr(course, "VENV", course.ROOT / ".venv")
    monkeypatch.setattr(course, "PYTHON", course.VENV / course.PYTHON.relative_to(course.PYTHON.parent.parent))
    course.set_up()
    assert len(installed(course)) == 2
    monkeypatch.setattr(sys, "version_info", (3, 99))
    course.set_up()
    assert len(installed(course)) == 3


def test_a_venv_that_is_a_link_is_left_as_it_is(course, tmp_path):
    (tmp_path / "theirs").mkdir()
    course.VENV.symlink_to(tmp_path / "theirs", target_is_directory=True)
    with pytest.raises(SystemExit, match=r"is a link to .*theirs"):
        course.set_up()
    assert course.commands == [] and not list((tmp_path / "theirs").iterdir())


def test_a_venv_that_another_copy_uses_is_left_as_it_is(course, tmp_path):
    course.set_up()
    other, note = tmp_path / "another copy", course.VENV / "lib/attn_lib-1.dist-info/direct_url.json"
    note.parent.mkdir(parents=True)
    note.write_text(json.dumps({"url": other.as_uri()}))
    other.mkdir()
    (other / ".venv").mkdir()  # from which ours was copied: both go on
    (course.ROOT / "requirements.txt").write_text("torch\n")
    course.set_up()
    (other / ".venv").rmdir()
    (other / ".venv").symlink_to(course.VENV, target_is_directory=True)
    (course.ROOT / "requirements.txt").write_text("torch \n")
    course.commands.clear()
    with pytest.raises(SystemExit, match=r"is used by the course in .*another copy"):
        course.set_up()
    assert course.commands == []


def test_an_active_conda_environment_is_not_passed_over_silently(course, monkeypatch, capsys):
    monkeypatch.setenv("CONDA_DEFAULT_ENV", "physics")
    course.set_up("authors")
    assert capsys.readouterr().out.count("conda environment physics") == 1


def test_a_venv_works_when_its_pip_does(tmp_path):
    course = load()
    assert course.works(Path(sys.executable)) and not course.works(tmp_path / "python")
    broken = tmp_path / "broken"
    broken.write_text("#!/bin/sh\nexit 1\n")
    broken.chmod(0o755)
    assert os.name == "nt" or not course.works(broken)


def test_jupyterlab_asks_nothing_about_news(course):
    course.set_up()
    settings = json.loads((course.VENV / "share/jupyter/lab/settings/overrides.json").read_text())
    assert settings["@jupyterlab/apputils-extension:notification"]["fetchNews"] == "false"


def test_uv_installs_where_there_is_one(course, monkeypatch):
    monkeypatch.setattr(shutil, "which", {"uv": "/somewhere/uv"}.get)
    monkeypatch.setattr(course, "as_pip_is_told", lambda: ["--as-pip"])
    monkeypatch.setattr(course, "torch_index", lambda: ["--index-of-torch"])
    course.set_up()
    uv = [command for command in course.commands if "install" in command]
    assert len(uv) == 1 and uv[0][:4] == ["/somewhere/uv", "pip", "install", "--compile-bytecode"]
    assert uv[0][4:] == ["--python", str(course.PYTHON), "--as-pip", "--index-of-torch", "-r", "requirements.txt"]


def test_pip_takes_over_when_uv_fails(course, monkeypatch, capsys):
    monkeypatch.setattr(shutil, "which", {"uv": "/somewhere/uv"}.get)
    monkeypatch.setattr(course, "as_pip_is_told", list)
    monkeypatch.setattr(course, "torch_index", lambda: ["--index-of-torch"])
    course.fails = lambda command: command[0] == "/somewhere/uv"
    course.set_up()
    pip = [str(course.PYTHON), "-m", "pip", "install", "--index-of-torch", "-r", "requirements.txt"]
    assert course.commands[-1] == pip and "pip will" in capsys.readouterr().out
    course.fails = lambda command: "install" in command
    course.commands.clear()
    (course.VENV / "learners-ready").unlink()
    with pytest.raises(SystemExit):
        course.set_up()


def test_uv_looks_where_pip_is_told_to_look(tmp_path, monkeypatch):
    course = load()
    monkeypatch.setattr(course, "PYTHON", sys.executable)
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    settings = tmp_path / "pip.conf"
    settings.write_text(
        "[global]\nindex-url = https://mirror/simple\nextra-index-url =\n    https://one/simple\n    https://two/simple\n"
        "find-links = /wheels\n[install]\ntrusted-host = mirror\n"
    )
    monkeypatch.setenv("PIP_CONFIG_FILE", str(settings))
    monkeypatch.setenv("PIP_FIND_LINKS", "/my/wheels")
    options = course.as_pip_is_told()
    assert options[:2] == ["--index-strategy", "unsafe-best-match"]
    pairs = list(zip(options[::2], options[1::2], strict=True))
    for pair in [
        ("--default-index", "https://mirror/simple"),
        ("--extra-index-url", "https://one/simple"),
        ("--extra-index-url", "https://two/simple"),
        ("--find-links", "/my/wheels"),
        ("--allow-insecure-host", "mirror"),
    ]:
        assert pair in pairs
    assert ("--find-links", "/wheels") not in pairs  # the environment counts more than the file, as for pip


@pytest.mark.parametrize("step", [1, -1])
def test_the_environment_counts_more_than_a_file_in_whatever_order_pip_lists_them(monkeypatch, step):
    course = load()
    listed = [":env:.find-links='/my/wheels'", "global.find-links='/wheels'"][::step]
    answered = subprocess.CompletedProcess([], 0, stdout="\n".join(listed))
    monkeypatch.setattr(course.subprocess, "run", lambda *_, **__: answered)
    assert course.as_pip_is_told()[2:] == ["--find-links", "/my/wheels"]


@pytest.mark.parametrize(
    ("system", "machine", "answers", "wanted"),
    [
        ("linux", "x86_64", True, ["--extra-index-url", "https://download.pytorch.org/whl/cpu"]),
        ("linux", "x86_64", False, []),
        ("linux", "aarch64", True, []),
        ("darwin", "x86_64", True, []),
    ],
)
def test_on_linux_torch_comes_without_cuda(monkeypatch, capsys, system, machine, answers, wanted):
    course = load()

    def urlopen(address, timeout):
        if not answers:
            raise OSError
        return open(os.devnull)

    monkeypatch.setattr(sys, "platform", system)
    monkeypatch.setattr(course.platform, "machine", lambda: machine)
    monkeypatch.setattr(course.urllib.request, "urlopen", urlopen)
    monkeypatch.setattr(course, "has_torch", lambda: False)
    monkeypatch.setattr(sys, "stdin", None)
    assert course.torch_index() == wanted
    assert ("2.7 GB" in capsys.readouterr().out) == (not answers)


@pytest.mark.parametrize(("typed", "goes_on"), [("y\n", True), ("\n", False), ("", False)])
def test_cuda_is_downloaded_only_after_a_yes(monkeypatch, typed, goes_on):
    course = load()
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(course.platform, "machine", lambda: "x86_64")
    monkeypatch.setattr(course.urllib.request, "urlopen", mock.Mock(side_effect=OSError))
    monkeypatch.setattr(course, "has_torch", lambda: False)
    monkeypatch.setattr(sys, "stdin", io.StringIO(typed))
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True)
    with contextlib.nullcontext() if goes_on else pytest.raises(SystemExit, match="Nothing was installed"):
        assert course.torch_index() == []


def test_a_step_that_fails_ends_course_py_unless_its_code_is_wanted(capfd):
    course = load()
    with pytest.raises(SystemExit, match="takes it up again"):
        course.run([sys.executable, "-c", "raise SystemExit(3)"])
    assert course.run([sys.executable, "-c", "raise SystemExit(3)"], check=False) == 3
    assert course.run([sys.executable, "-c", "import os; print(os.getcwd())"]) == 0
    assert capfd.readouterr().out.strip() == str(ROOT)


def test_conda_and_pip_users_get_the_same_versions():
    pinned = dict(re.findall(r"^([\w-]+)==([\w.]+)", (ROOT / LISTS[0]).read_text(), re.M))
    conda = dict(re.findall(r"^ +- ([\w-]+)==?(\S+)", (ROOT / "environment.yml").read_text(), re.M))
    conda["torch"] = conda.pop("pytorch-cpu")
    conda.pop("python")
    assert conda == pinned
