"""course.py as somebody at a terminal meets it: what each command runs, where, with which exit code; and the set-up.

Nothing is installed here. Commands are run as processes in a copy of the course whose .venv holds a shell script
instead of Python, which notes how it was called; the set-up is tried as a module whose commands are recorded.
"""

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
from pathlib import Path
from unittest import mock

import nbformat
import pytest
from lab_page import write_notebook
from paths import ROOT

import commands
from authors.refresh import refresh

LISTS = ["requirements.txt", "authors/requirements.txt", "authors/npm.txt"]
LISTS += ["classroom/requirements.txt", "classroom/hub/requirements.txt", "commands/model.txt"]
FAKE_PYTHON = """#!/bin/sh
printf '%s|' "$PWD" "$OMP_NUM_THREADS" "$ATEN_CPU_CAPABILITY$MKL_CBWR" "$PYTHONPATH" >> "{root}/calls"
for part in "$@"; do printf '%s\\t' "$part" >> "{root}/calls"; done
echo >> "{root}/calls"
{then}
"""


def load(path=ROOT / "commands/setting_up.py"):
    spec = importlib.util.spec_from_file_location("setting_up_here", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def lay_out(root):
    """A copy of what course.py needs, in a folder with a space in its name."""
    for folder in ("authors", "commands", "classroom/hub", "notebooks", "benchmarks"):
        (root / folder).mkdir(parents=True)
    (root / "workbench").symlink_to(ROOT / "workbench", target_is_directory=True)
    settings = ("pyproject.toml", "notebooks/course.toml", "commands/jupyterlab.json", *LISTS, *load().PACKAGES)
    for name in ("course.py", "commands/__init__.py", "commands/machine.py", "commands/setting_up.py", *settings):
        shutil.copy(ROOT / name, root / name)
    for path in (ROOT / "notebooks").glob("*.ipynb"):
        (root / "notebooks" / path.name).touch()
    for name in ("benchmarks/bench_one.py", "benchmarks/bench_two.py", "classroom/hub/check_requirements.py"):
        (root / name).touch()
    return root


# ------------------------------------------------------------------------------------------------- commands


class Call:
    """How the Python in .venv was called."""

    def __init__(self, line, root):
        self.folder, self.threads, self.processor, self.path, command = line.split("|")
        self.command = command.split("\t")[:-1]
        self.short = " ".join(self.command).replace(f"{root}/", "").replace(" --allow-root", "")


class Terminal:
    """A copy of the course that is set up, with a .venv whose Python only notes that it was called."""

    UNSET = ("DISPLAY", "WAYLAND_DISPLAY", "PYTHONPATH", "OMP_NUM_THREADS")  # of whoever runs the tests

    def __init__(self, root):
        self.root = root
        setting_up = load(root / "commands/setting_up.py")
        self.answers("exit 0")
        for part in setting_up.PARTS:
            (setting_up.VENV / f"{part}-ready").write_text(setting_up.fingerprint(part))

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
        return [Call(line, self.root) for line in lines]


@pytest.fixture
def terminal(tmp_path):
    if os.name == "nt":
        pytest.skip("the Python that notes its calls is a shell script")
    return Terminal(lay_out(tmp_path / "my course"))


@pytest.mark.parametrize("newer", ["", "python3.12", "python3.11 python3.14"])
def test_old_python_is_told_which_one_to_take(tmp_path, newer):
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
        assert "python.org/downloads" in then and then.endswith("then: python3.11 course.py hub")
    assert not (tmp_path / ".venv").exists()


MACHINES = {  # what a machine says of itself → what it is told works
    "Python 3.15": ({"sys.version_info": (3, 15, 0)}, "3.15.*python3.13 course.py lab"),
    "PyPy": ({"sys.implementation": mock.Mock(**{"name": "pypy"})}, "python3.13 course.py lab"),
    "Intel Mac": ({"sys.platform": "darwin", "platform.machine": lambda: "x86_64"}, "Intel.*site"),
    "old Mac": (
        {
            "sys.platform": "darwin",
            "platform.machine": lambda: "arm64",
            "platform.mac_ver": lambda: ("13.6.1", ("", "", ""), "arm64"),
        },
        "macOS 13.*conda",
    ),
    "Windows on ARM": ({"sys.platform": "win32", "sysconfig.get_platform": lambda: "win-arm64"}, "ARM.*x86-64"),
    "Alpine": ({"os.confstr": mock.Mock(side_effect=ValueError)}, "Alpine.*Debian"),
    "CentOS 7": ({"os.confstr": lambda name: "glibc 2.17"}, "glibc 2.17.*conda"),
    "Raspberry Pi of old": ({"platform.machine": lambda: "armv7l"}, "armv7l.*site"),
    "today's": ({}, ""),
}


@pytest.mark.parametrize("machine", MACHINES)
def test_machine_that_cannot_have_pytorch_is_told_so_first(monkeypatch, machine):
    """In one paragraph that says what works instead; and nothing is set up."""
    says, told = MACHINES[machine]
    linux = {"sys.platform": "linux", "platform.machine": lambda: "x86_64", "os.confstr": lambda name: "glibc 2.36"}
    for name, value in (linux | says).items():
        monkeypatch.setattr(f"commands.machine.{name}", value)
    monkeypatch.setattr("commands.machine._output", lambda *command: "cpython True" * (command[0] == "python3.13"))
    monkeypatch.setattr(sys, "argv", ["course.py", "lab"])
    monkeypatch.setattr(commands, "has_torch", lambda: False)
    set_up = mock.Mock(side_effect=SystemExit)
    monkeypatch.setattr(commands, "set_up", set_up)
    with pytest.raises(SystemExit) as left:
        commands.main(["lab"])
    assert set_up.called == (not told)
    if told:
        assert re.search(told, str(left.value)) and "Nothing was downloaded" in str(left.value)


@pytest.mark.skipif(os.name == "nt", reason="a home is given by another variable there")
def test_jupyter_starts_where_no_home_can_be_written(monkeypatch, tmp_path, capsys):
    (tmp_path / "file").touch()
    monkeypatch.setenv("HOME", str(tmp_path / "file/home"))
    monkeypatch.setattr(commands, "ROOT", tmp_path)
    places = commands.with_a_home()
    assert str(tmp_path / "file/home") in capsys.readouterr().out
    assert places["JUPYTER_RUNTIME_DIR"].startswith(str(tmp_path / "my")) and Path(places["HOME"]).is_dir()
    monkeypatch.setenv("HOME", str(tmp_path))
    assert commands.with_a_home() is None


COMMANDS = list(commands.parser().commands)


def test_overview_names_every_command(terminal):
    for typed, code in (([], 1), (["--help"], 0), (["bake"], 1)):
        assert terminal.type(*typed) == [] and terminal.code == code
        assert set(re.findall(r"^python course\.py ([a-z]+)", terminal.printed, re.M)) == set(COMMANDS)
    assert "no command 'bake'" in terminal.printed


def test_every_command_explains_itself_before_anything_is_set_up(monkeypatch, capsys):
    monkeypatch.setattr(commands, "set_up", None)
    for command in set(COMMANDS) - {"grade"}:
        with pytest.raises(SystemExit) as left:
            commands.main([command, "--help"])
        assert left.value.code == 0 and f"usage: course.py {command}" in capsys.readouterr().out


def test_command_fails_when_what_it_runs_fails(terminal):
    terminal.answers('case "$2" in *copies) exit 0;; esac; exit 3')
    for command in ("lab", "slides", "grade", "hub"):
        terminal.type(command)
        assert terminal.code == 3 and "Traceback" not in terminal.printed, command


def test_ctrl_c_ends_a_command_without_a_traceback(terminal):
    terminal.answers("kill -INT $PPID")
    terminal.type("test")
    assert terminal.code == 130 and "Traceback" not in terminal.printed


def test_whoever_ends_a_command_ends_what_it_runs(terminal):
    said = f"echo ended > '{terminal.root}/said'; exit"
    terminal.answers(f'trap "{said}" TERM; kill -TERM $PPID; for i in $(seq 400); do sleep 0.05; done')
    terminal.type("lab")
    assert (terminal.root / "said").exists() and "Traceback" not in terminal.printed


@pytest.mark.parametrize(
    "typed, runs",
    [
        ("test -k masks --pdb tests/attn_lib/test_masks.py", "-m pytest -k masks --pdb tests/attn_lib/test_masks.py"),
        ("slides 03 notebooks/01_by_hand.ipynb",
         "-m authors.deck.build notebooks/03_masking.ipynb notebooks/01_by_hand.ipynb"),
        ("slides", "-m authors.deck.build"),  # which takes all, where none is named
        ("refresh 03", "-m authors.refresh notebooks/03_masking.ipynb"),
        ("site -n", "-m authors.site.sphinx_site -n"),
        ("present", "-m authors.deck.serve notebooks/01_by_hand.ipynb --no-browser"),  # there is no screen
        ("present 03 --port 9", "-m authors.deck.serve notebooks/03_masking.ipynb --no-browser --port 9"),
    ],
)  # fmt: skip
def test_command_runs_with_what_was_typed(terminal, typed, runs):
    (call,) = terminal.type(*typed.split(), folder=terminal.root.parent)
    assert call.short == runs and call.folder == str(terminal.root)
    assert call.threads == ("" if typed.startswith("present") else "1")


@pytest.mark.parametrize(
    "typed, runs",
    [
        ("grade submissions --out x --help", "-P -m classroom.grade submissions --out x --help"),
        ("hub add class.csv --teacher", "-P -m classroom.hub.cli add class.csv --teacher"),
    ],
)
def test_paths_of_grade_and_hub_are_the_callers(terminal, tmp_path, typed, runs):
    (call,) = terminal.type(*typed.split(), folder=tmp_path, PYTHONPATH="mine")
    assert call.short == runs and call.folder == str(tmp_path)
    assert call.path.split(os.pathsep) == [str(terminal.root), "mine"]  # where `classroom` is found


def test_grade_says_what_to_do_when_a_submission_ends_it(terminal):
    terminal.answers("kill -9 $$")
    terminal.type("grade", "handed in")
    assert terminal.code and "Call it again" in terminal.printed


def test_slides_refuse_what_they_cannot_pass_on(terminal):
    assert terminal.type("slides", "03", "--port=9") == []
    assert terminal.code and "--port=9" in terminal.printed and "Traceback" not in terminal.printed


@pytest.mark.parametrize("failing", ["default", "", "no"])
def test_thorough_runs_the_notebooks_on_a_lesser_processor_too(terminal, failing):
    terminal.answers(f'[ "$ATEN_CPU_CAPABILITY" = "{failing}" ] && exit 1; exit 0')
    first, second = terminal.type("test", "--thorough", "-x")
    assert (first.short, first.processor, first.threads) == ("-m pytest -x", "", "1")
    assert (second.short, second.processor, second.threads) == (
        "-m pytest notebooks -k Cell or Solutions",
        "defaultCOMPATIBLE",
        "2",
    )
    assert terminal.code == (failing != "no")


def test_hub_says_what_the_machine_lacks_before_it_is_set_up(terminal):
    check = terminal.root / "classroom/hub/check_requirements.py"
    check.write_text("import sys; sys.exit('No node for ' + sys.argv[1])")
    (terminal.root / ".venv/hub-ready").unlink()
    assert terminal.type("hub") == []
    assert (terminal.code, terminal.printed) == (1, f"No node for {terminal.root / '.venv/bin/python'}\n")
    terminal.type("lab")  # which needs none
    assert terminal.code == 0


@pytest.mark.parametrize(
    "typed, page, copies, passed_on",
    [
        ("", "my/01_by_hand", ["-m workbench.copies"], []),
        ("my/04_multi_head.ipynb", "my/04_multi_head", ["-m workbench.copies"], []),
        ("--fresh 03 --port 9999", "my/03_masking", ["-m workbench.copies --fresh 03_masking"], ["--port", "9999"]),
        ("--port 9999 --edit", "notebooks/01_by_hand", [], ["--port", "9999"]),  # which is no notebook
    ],
)
def test_lab_opens_the_learners_copy_or_the_tested_edition(terminal, typed, page, copies, passed_on):
    *before, call = terminal.type("lab", *typed.split())
    assert call.command[:2] == ["-m", "jupyterlab"] and [made.short for made in before] == copies
    options = call.command[2:]
    assert f"/lab/tree/{page}.ipynb" in options and options[len(options) - len(passed_on) :] == passed_on
    assert options[options.index("--ServerApp.root_dir") + 1] == str(terminal.root)
    assert not {"--edit", "--fresh", "03", "my/04_multi_head.ipynb"} & set(options)
    assert Path(options[options.index("--LabApp.workspaces_dir") + 1]).is_relative_to(terminal.root / "my")


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere there is always a screen")
@pytest.mark.parametrize(
    "screen, user, wanted",
    [("", 1000, ["--no-browser"]), ("DISPLAY", 0, ["--allow-root"]), ("WAYLAND_DISPLAY", 1000, [])],
)
def test_jupyter_starts_without_a_screen_and_for_root(monkeypatch, screen, user, wanted):
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.setenv(name, ":0" * (name == screen))
    monkeypatch.setattr(os, "geteuid", lambda: user)
    assert commands.server_options() == wanted


def test_lab_opens_nothing_when_no_copy_can_be_made(terminal):
    assert terminal.type("lab", "--fresh") == [] and terminal.code == 1 and "--fresh 03" in terminal.printed
    terminal.answers("exit 3")
    (call,) = terminal.type("lab")
    assert call.short == "-m workbench.copies" and terminal.code != 0


def test_notebook_is_found_by_any_of_its_names():
    for name in ("03", "03_masking", "03_masking.ipynb", "notebooks/03_masking.ipynb"):
        assert commands.find_notebook(name).name == "03_masking.ipynb"
    assert commands.find_notebook("1").name == "01_by_hand.ipynb"  # not 10 to 14
    for name in ("99", "0"):
        with pytest.raises(SystemExit, match="01_by_hand, 02_scaled_dot_product"):
            commands.find_notebook(name)


# -------------------------------------------------------------------------------------------------- refresh


def test_refresh_saves_what_ran_and_leaves_what_failed(monkeypatch, tmp_path, capsys):
    folder = tmp_path / "lessons"
    folder.mkdir()
    good, bad = folder / "01_good.ipynb", folder / "02_bad.ipynb"
    kept = "len(os.listdir(os.environ['ATTENTION_PROGRESS']))"
    widget = "import os\nfrom ipywidgets import IntSlider\nIntSlider()"
    write_notebook(good, f"{widget}\n---\nprint(os.path.basename(os.getcwd()))\n---\n{kept}")
    write_notebook(bad, "1\n---\n1 / 0")
    before = bad.read_bytes()
    assert refresh(good) and not refresh(bad)
    assert bad.read_bytes() == before
    printed = capsys.readouterr().out
    assert "02_bad.ipynb … failed" in printed and "ZeroDivisionError" in printed and "01_good.ipynb … saved" in printed
    notebook = nbformat.read(good, as_version=4)
    assert [cell.execution_count for cell in notebook.cells] == [1, 1, 1]
    assert notebook.cells[1].outputs[0].text == "lessons\n"  # it ran where it lies
    assert notebook.cells[2].outputs[0].data["text/plain"] == "0" and "ATTENTION_PROGRESS" not in os.environ
    assert "version" not in notebook.metadata.language_info
    assert "application/vnd.jupyter.widget-view+json" in notebook.cells[0].outputs[0].data
    assert "widgets" not in notebook.metadata  # the state of which is another each time
    assert not any("execution" in cell.metadata for cell in notebook.cells)  # no times
    after = good.read_bytes()
    assert after.endswith(b"}\n") and b"\r" not in after
    assert refresh(good) and good.read_bytes() == after  # a diff shows what changed


# --------------------------------------------------------------------------------------------------- set-up


@pytest.fixture
def course(tmp_path, monkeypatch):
    """The set-up as a module, standing in a folder of its own, its commands recorded."""
    root = lay_out(tmp_path / "my course")
    module = load(root / "commands/setting_up.py")
    module.commands, module.fails = [], lambda command: False
    monkeypatch.setattr(module, "torch_index", lambda: [])
    monkeypatch.setattr(module, "pip_settings", dict)
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
    monkeypatch.setattr(module, "venv_has_pip", lambda python: python.is_file())
    return module


def installed(course):
    """The lists that were installed, in order."""
    return [command[-1] for command in course.commands if "install" in command]


def test_first_call_makes_the_venv_and_the_second_reuses_it(course, capsys):
    course.set_up("authors")
    assert [command[2] for command in course.commands] == ["venv", "pip", "pip"]
    learners, _, authors, _ = capsys.readouterr().out.splitlines()
    assert "for learners (once; a few minutes, about 1.3 GB)" in learners and "for authors (once; a minute)" in authors
    course.set_up("authors")
    assert len(course.commands) == 3
    course.set_up("npm")
    assert course.commands[-1][3] == "ci"
    course.fails = lambda command: "ci" in command
    (course.ROOT / "authors/package-lock.json").write_text("{}")
    with pytest.raises(SystemExit, match="registry"):
        course.set_up("npm")


def test_lessons_are_whole_where_the_model_does_not_come(course, capsys):
    course.fails = lambda command: command[-1] == course.PARTS["model"]
    course.set_up("model")
    said = capsys.readouterr().out.splitlines()[-1]
    assert "model of lesson 13" in said and "All other lessons are whole" in said
    course.fails = lambda command: False
    course.commands.clear()
    course.set_up("model")  # as the next lab does
    (again,) = course.commands
    assert "--no-deps" in again and installed(course) == ["commands/model.txt"]
    course.set_up("model")
    assert course.commands == [again]


@pytest.mark.parametrize("votes", [["--hall"], ["--relay", "https://hub.example.org/hall/"]])
def test_present_installs_what_votes_need(monkeypatch, votes):
    asked = []
    monkeypatch.setattr(commands, "set_up", lambda *parts: asked.extend(parts) or sys.exit())
    with pytest.raises(SystemExit):
        commands.main(["present", *votes])
    assert "classroom" in asked


@pytest.mark.parametrize("cut", ["install", "venv"])
def test_set_up_that_was_cut_off_is_taken_up(course, cut):
    course.fails = lambda command: cut in command
    with pytest.raises(SystemExit):
        course.set_up()
    course.fails = lambda command: False
    course.commands.clear()
    course.set_up()
    course.set_up()
    assert installed(course) == ["requirements.txt"]


def test_venv_that_does_not_work_is_made_anew(course):
    course.VENV.mkdir()
    (course.VENV / "rubbish").touch()  # half made
    course.set_up()
    assert not (course.VENV / "rubbish").exists()
    course.PYTHON.unlink()  # made by a Python that is gone
    course.set_up()
    assert course.PYTHON.is_file() and installed(course) == ["requirements.txt"] * 2


@pytest.mark.parametrize("name", ["requirements.txt", "pyproject.toml", "authors/requirements.txt"])
def test_changed_list_is_installed_and_no_other(course, name):
    course.set_up("authors")
    (course.VENV / "what the learner installed").touch()
    with open(course.ROOT / name, "a") as file:
        file.write("\n# changed\n")
    course.commands.clear()
    course.set_up("authors")
    assert installed(course) == ["requirements.txt" if name == "pyproject.toml" else name]
    assert (course.VENV / "what the learner installed").exists()


def test_moved_folder_and_another_python_are_set_up_again(course, monkeypatch):
    course.set_up()
    monkeypatch.setattr(course, "ROOT", course.ROOT.rename(course.ROOT.parent / "elsewhere"))
    monkeypatch.setattr(course, "VENV", course.ROOT / ".venv")
    monkeypatch.setattr(course, "PYTHON", course.VENV / course.PYTHON.relative_to(course.PYTHON.parent.parent))
    course.set_up()
    assert len(installed(course)) == 2
    monkeypatch.setattr(sys, "version_info", (3, 99))
    course.set_up()
    assert len(installed(course)) == 3


def test_venv_that_is_a_link_is_left_as_it_is(course, tmp_path):
    (tmp_path / "theirs").mkdir()
    course.VENV.symlink_to(tmp_path / "theirs", target_is_directory=True)
    with pytest.raises(SystemExit, match=r"is a link to .*theirs"):
        course.set_up()
    assert course.commands == [] and not list((tmp_path / "theirs").iterdir())


def test_venv_that_another_copy_uses_is_left_as_it_is(course, tmp_path):
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


def test_active_conda_environment_is_not_passed_over_silently(course, monkeypatch, capsys):
    monkeypatch.setenv("CONDA_DEFAULT_ENV", "physics")
    course.set_up("authors")
    assert capsys.readouterr().out.count("conda environment physics") == 1


def test_jupyterlab_asks_nothing_about_news(course):
    course.set_up()
    settings = json.loads((course.VENV / "share/jupyter/lab/settings/overrides.json").read_text())
    assert settings["@jupyterlab/apputils-extension:notification"]["fetchNews"] == "false"


@pytest.mark.parametrize("fails", [False, True])
def test_uv_installs_where_there_is_one_else_pip(course, monkeypatch, capsys, fails):
    monkeypatch.setattr(shutil, "which", {"uv": "/somewhere/uv"}.get)
    monkeypatch.setattr(course, "as_pip_is_told", lambda: ["--as-pip"])
    monkeypatch.setattr(course, "torch_index", lambda: ["--index-of-torch"])
    course.fails = lambda command: fails and command[0] == "/somewhere/uv"
    course.set_up()
    uv, *pip = [command for command in course.commands if "install" in command]
    assert uv[:3] == ["/somewhere/uv", "pip", "install"] and {"--as-pip", "--index-of-torch"} < set(uv)
    again = [str(course.PYTHON), "-m", "pip", "install", "--index-of-torch", "-r", "requirements.txt"]
    assert pip == [again] * fails and ("pip will" in capsys.readouterr().out) == fails


def test_settings_that_lead_packages_elsewhere_do_not_reach_the_venv(tmp_path, monkeypatch):
    setting_up = load()
    monkeypatch.setattr(setting_up, "PYTHON", sys.executable)
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    (tmp_path / "pip.conf").write_text("[global]\nindex-url = https://mirror/simple\n[install]\nuser = true\n")
    monkeypatch.setenv("PIP_CONFIG_FILE", str(tmp_path / "pip.conf"))
    for name, value in {
        "USER": "1",
        "TARGET": "/t",
        "PREFIX": "/p",
        "REQUIRE_VIRTUALENV": "1",
        "PROXY": "http://p",
    }.items():
        monkeypatch.setenv(f"PIP_{name}", value)
    command = [sys.executable, "-m", "pip", "config", "list"]
    told = subprocess.run(command, env=setting_up.without_ways_elsewhere(), capture_output=True, text=True).stdout
    names = {line.split("=")[0].rpartition(".")[2] for line in told.splitlines()}
    assert {"index-url", "proxy"} < names and not names & {"user", "target", "prefix", "require-virtualenv"}


def test_nothing_is_fetched_where_all_is_there(course, monkeypatch):
    """As after the folder was renamed: pip and npm are not asked for what they have brought already."""
    monkeypatch.setattr(course, "has_torch", lambda: True)
    monkeypatch.setattr(course, "all_is_there", lambda requirements: requirements == "requirements.txt")
    course.set_up("npm")
    assert installed(course) == ["authors/npm.txt"]
    (course.VENV / "npm/node_modules").mkdir()
    (course.VENV / "npm/node_modules/.package-lock.json").touch()
    (course.VENV / "npm-ready").unlink()
    course.commands.clear()
    course.set_up("npm")
    assert not [command for command in course.commands if "ci" in command]


@pytest.fixture
def linux(monkeypatch):
    """The set-up on a PC with Linux, whose .venv has no torch yet, where PyTorch's index does not answer."""
    setting_up = load()
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(setting_up.platform, "machine", lambda: "x86_64")
    monkeypatch.setattr(setting_up.urllib.request, "urlopen", mock.Mock(side_effect=OSError))
    monkeypatch.setattr(setting_up, "has_torch", lambda: False)
    monkeypatch.setattr(sys, "stdin", None)
    return setting_up


def test_torch_comes_without_cuda_on_linux(linux, monkeypatch, capsys):
    assert linux.torch_index() == [] and "2.7 GB" in capsys.readouterr().out
    monkeypatch.setattr(linux.urllib.request, "urlopen", lambda address, timeout: io.BytesIO())
    assert linux.torch_index() == ["--extra-index-url", "https://download.pytorch.org/whl/cpu"]
    monkeypatch.setattr(linux.platform, "machine", lambda: "aarch64")
    assert linux.torch_index() == []
    monkeypatch.setattr(linux.platform, "machine", lambda: "x86_64")
    monkeypatch.setattr(sys, "platform", "darwin")
    assert linux.torch_index() == []


@pytest.mark.parametrize(("typed", "goes_on"), [("y\n", True), ("\n", False), ("", False)])
def test_cuda_is_downloaded_only_after_a_yes(linux, monkeypatch, typed, goes_on):
    monkeypatch.setattr(sys, "stdin", io.StringIO(typed))
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True)
    with contextlib.nullcontext() if goes_on else pytest.raises(SystemExit, match="Nothing was installed"):
        assert linux.torch_index() == []
