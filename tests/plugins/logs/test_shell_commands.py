"""Files that a shell's command line opened: read if they are certain, and never guessed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphkit.plugins.logs.shell_commands import ShellReading, read_shell

X = "some text"


@pytest.mark.parametrize(
    ("line", "output", "opened"),
    [
        ("cat a.py", X, ["a.py"]),
        ("cat -n ./src/a.py", X, ["src/a.py"]),
        ("/bin/cat 'my file.py' \"b c.py\" d\\ e.py", X, ["my file.py", "b c.py", "d e.py"]),
        ("sed -n 10,20p a.py", X, ["a.py"]),
        ("sed -n '/def f/,$p' a.py", X, ["a.py"]),
        ("sed -ne '1,5p;9p' -- a.py", X, ["a.py"]),
        ("head -20 a.py b.py", X, ["a.py", "b.py"]),
        ("head -n 20 a.py", X, ["a.py"]),
        ("tail -n +5 a.py", X, ["a.py"]),
        ("tail --lines=3 a.py", X, ["a.py"]),
        ("nl -ba a.py", X, ["a.py"]),
        ("nl -b a a.py", X, ["a.py"]),
        ("less +10 a.py", X, ["a.py"]),
        ("git show HEAD~1:src/a.py", X, ["src/a.py"]),
        ("git --no-pager show v1:src/a.py v2:b.py", X, ["src/a.py", "b.py"]),
        ("open src/a.py 42", f"[File: /t/src/a.py (99 lines total)]\n{X}", ["src/a.py"]),
        # What passes lines on, or cuts them.
        ("cat a.py | head -50", X, ["a.py"]),
        ("nl -ba a.py | sed -n '10,20p'", X, ["a.py"]),
        ("cat a.py | grep -n f | tail -3", X, ["a.py"]),
        # Lists of commands.
        ("cat a.py && cat b.py", X, ["a.py", "b.py"]),
        ("cat a.py; cat b.py\nhead c.py", X, ["a.py", "b.py", "c.py"]),
        ("echo start; ls -la src && cat a.py", X, ["a.py"]),
        ("cat a.py || cat b.py", X, ["a.py"]),
        ("cat no.py || cat b.py", "cat: no.py: No such file or directory\n" + X, ["b.py"]),
        # Where it is.
        ("cd src && cat a.py", X, ["src/a.py"]),
        ("cd /testbed && cd src/ && cat ../a.py", X, ["/testbed/a.py"]),
        ("cd src; git show HEAD:lib/a.py", X, ["lib/a.py"]),
        # What doesn't change what is opened.
        ("cat a.py 2>/dev/null", X, ["a.py"]),
        ("cat a.py 2>&1 | head", X, ["a.py"]),
        ("LANG=C timeout 5 cat a.py  # the file", X, ["a.py"]),
        ("bash -lc 'cd src && cat a.py'", X, ["src/a.py"]),
        # What failed, and what shows nothing.
        ("cat a.py no.py", f"{X}\ncat: no.py: No such file or directory", ["a.py"]),
        ("sed -n 1,2p no.py || true", "sed: can't read no.py: No such file or directory", []),
        ("head no.py", "head: cannot open 'no.py' for reading: No such file or directory", []),
        ("cat src", "cat: src: Is a directory", []),
        ("rg f src", "bash: line 1: rg: command not found", []),
        ("cd gone && cat a.py", "bash: line 1: cd: gone: No such file or directory", []),
        ("git show HEAD:no.py", "fatal: path 'no.py' does not exist in 'HEAD'", []),
        ("git show HEAD:src", "tree HEAD:src\n\na.py", []),
        ("open no.py", "File no.py not found", []),
        ("cat a.py", "", []),
        ("ls src | wc -l", "3", []),
        ("find . -name '*.py' | head", "./a.py", []),
        ("git status && git log --oneline | head", X, []),
        ("echo 'cat a.py' > run.sh", "", []),
    ],
)
def test_what_a_line_certainly_opened(line: str, output: str, opened: list[str]) -> None:
    """The files that are printed, from where the line begins; what failed, or prints no file, opened nothing."""
    reading = read_shell(line, output)
    assert (reading.opened, reading.certain) == (opened, True)


@pytest.mark.parametrize(
    ("line", "output", "opened"),
    [
        ("grep -n f a.py", "3:def f", ["a.py"]),
        ("grep -c f a.py; true", "3", None),
        ("grep f a.py b.py", "a.py:def f", ["a.py"]),
        ("grep -rn f src", "src/a.py:3:f\nsrc/b.py:1:x: f\nsrc/a.py:9:f", ["src/a.py", "src/b.py"]),
        ("grep -rn f . | head -5", "./a.py:3:f", ["a.py"]),
        ("cd src && grep -rn f .", "./a.py:3:f", ["src/a.py"]),
        ("grep -rn --include=*.py f src", "src/a.py:3:f", ["src/a.py"]),
        (
            "grep -rn -A 2 f src",
            "src/a.py:3:f\nsrc/a.py-4-x:1: y\nsrc/a.py-5-\n--\nsrc/b.py:1:f",
            ["src/a.py", "src/b.py"],
        ),
        ("grep -rl f src", "src/a.py\nsrc/b.py", ["src/a.py", "src/b.py"]),
        ("rg f", "a.py:def f\nsrc/b.py:f: x", ["a.py", "src/b.py"]),
        ("rg -n -g '*.py' f src lib", "lib/a.py:3:f", ["lib/a.py"]),
        ("rg f src/a.py", "def f", ["src/a.py"]),
        ("rg -l f", "a.py", ["a.py"]),
        ("grep -rn f src", "grep: src/x: Permission denied\nsrc/a.py:3:f", ["src/a.py"]),
        ("grep -rn f src", "grep: src: No such file or directory", []),
        ("grep -rn f src", "Binary file src/a.bin matches", ["src/a.bin"]),
        ("grep -rn f src", "", []),
        # The output doesn't say where a line was found.
        ("grep -h f a.py b.py", "def f", None),
        ("grep f src/*", "src/a.py:f", None),
        ("grep -rn f $DIR", "src/a.py:3:f", None),
        ("rg --json f", "{}", None),
        ("grep -r -C 2 f src", "src/a.py:f\nsrc/a.py-x: y", None),
        ("cat a.py && grep -rn f src", "src/a.py:3:f", None),
    ],
)
def test_which_files_a_search_found_something_in(line: str, output: str, opened: list[str] | None) -> None:
    """By the output, which names them unless one file was searched; None where it isn't known."""
    reading = read_shell(line, output)
    assert reading.certain == (opened is not None)
    if opened is not None:
        assert reading.opened == opened


def test_a_search_with_a_line_that_names_no_file_is_not_all_known() -> None:
    """Output that an agent's harness cut may have named more files: those before the cut are known, not all."""
    reading = read_shell("grep -rn f src", "src/a.py:3:f\n[120 lines were left out]")
    assert (reading.opened, reading.certain) == (["src/a.py"], False)


@pytest.mark.parametrize(
    "line",
    [
        "cat $FILE",
        'cat "$FILE"',
        "cat *.py",
        "cat src/{a,b}.py",
        "cat ~/a.py",
        "cat `ls`",
        "cat $(git ls-files)",
        "cat < a.py",
        "cat a.py > b.py",
        "cat <<EOF\na.py\nEOF",
        "cat -",
        "cat",
        "(cat a.py)",
        "for f in a b; do cat $f; done",
        "if true; then cat a.py; fi",
        "cat a.py | python filter.py",
        "find . -name a.py | xargs cat",
        "find . -name a.py -exec cat {} ;",
        "python -c 'print(open(\"a.py\").read())'",
        "sed -i s/a/b/ a.py",
        "sed s/a/b/ a.py",
        "sed -n '1,5w out' a.py",
        "git show HEAD",
        "git diff",
        "cd $DIR && cat a.py",
        "cd - && cat a.py",
        "cd .. && cat a.py",
        "pytest && cat a.py",
        "cat a.py b.py | grep f",
        "cat 'a.py",
        "bash -c 'bash -c \"bash -c cat\"'",
        "cat " + "a" * 30_000,
    ],
)
def test_what_is_not_certain_is_not_guessed(line: str) -> None:
    """Expansions, redirections, programs and constructs that can't be followed open what isn't known."""
    reading = read_shell(line, X)
    assert (reading.opened, reading.certain) == ([], False)


def test_without_its_output_nothing_is_certain() -> None:
    """Whether a file could be opened is only known of what came back."""
    assert read_shell("cat a.py", None) == ShellReading(certain=False)
    assert read_shell("ls", None).certain


def test_hostile_outputs_are_not_looked_through_for_ever() -> None:
    """More lines that look like failures, or more files, than anybody reads: what was opened isn't known."""
    files = " ".join(f"f{number}.py" for number in range(101))
    assert not read_shell(f"cat {files}", X).certain
    assert read_shell("cat a.py", "404 not found\n" * 100).opened == ["a.py"]
    assert not read_shell("cat a.py", "404 not found\n" * 101).certain


def test_a_line_that_failed() -> None:
    """A single command that failed opened nothing; of several it isn't known which did, unless the output says it.

    What worked as a whole has run all that `&&` joins, also behind a program that isn't known.
    """
    assert read_shell("cat a.py", "?", failed=True) == ShellReading([], certain=True, failed=True)
    assert read_shell("cat a.py && pytest", X, failed=True) == ShellReading([], certain=False, failed=True)
    said = "x\ncat: b.py: No such file or directory"
    assert read_shell("cat a.py b.py", said, failed=True) == ShellReading(["a.py"], certain=True, failed=True)
    assert read_shell("grep -rn f src || true", "grep: src: No such file or directory").failed
    assert read_shell("pytest && cat a.py", f"<returncode>0</returncode>\n<output>\n{X}\n</output>").opened == ["a.py"]


@pytest.mark.parametrize(
    "output",
    [
        "<returncode>0</returncode>\n<output>\nsrc/a.py:3:f\n</output>",
        '{"output": "src/a.py:3:f\\n", "metadata": {"exit_code": 0}}',
        "src/a.py:3:f\n[The command completed with exit code 0.]\n[Current working directory: /w]",
        "Exit code: 0\nWall time: 0.1 seconds\nOutput:\nsrc/a.py:3:f\n",
        "OBSERVATION:\nsrc/a.py:3:f",
    ],
)
def test_what_agents_wrap_around_an_output_is_taken_off(output: str) -> None:
    """Else each of its lines would be one that names no file."""
    assert read_shell("grep -rn f src", output) == ShellReading(["src/a.py"])


def test_an_answer_that_is_handed_in_by_a_shell() -> None:
    """The answer is the text after the agreed line, in the output or in plain echoes."""
    mark = "COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"
    assert read_shell(f"echo {mark}; echo the answer", None).submitted == "the answer"
    assert read_shell(f"echo {mark} && cat out.txt", f"{mark}\nforty\ntwo\n").submitted == "forty\ntwo"
    unknown = read_shell(f"echo {mark} && cat out.txt", None)
    assert (unknown.submits, unknown.submitted) == (True, None)


@given(st.text(alphabet="cat ab.py/|&;><$`'\"\\\n()*-{}#2=", max_size=60), st.text(alphabet="abc:. /-\n1", max_size=60))
def test_any_line_is_read(line: str, output: str) -> None:
    """Whatever a line holds, it is read without a fault, and names none but those in the line or in its output."""
    reading = read_shell(line, output)
    assert all(name.strip("/.") and (set(name) <= set(line) | set(output)) for name in reading.opened)
