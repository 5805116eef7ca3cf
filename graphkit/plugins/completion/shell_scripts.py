"""Scripts for shells, which hold every command and option, so that a Tab starts no process."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class ShellOption:
    """An option: its names, its help, whether it takes a value, and the values to choose from."""

    names: tuple[str, ...]
    help: str
    valued: bool
    choices: tuple[str, ...] = ()


@dataclass(frozen=True)
class ShellCommand:
    """A command or group: its words, the words that may follow with their help, and its options."""

    path: tuple[str, ...]
    words: dict[str, str] = field(default_factory=dict)
    options: tuple[ShellOption, ...] = ()

    @property
    def name(self) -> str:
        """The words as one text."""
        return " ".join(self.path)

    @property
    def flags(self) -> list[str]:
        """The names of all options."""
        return [name for option in self.options for name in option.names]


def commands_of(group: Any, path: tuple[str, ...] = ()) -> Iterator[ShellCommand]:
    """Yield a group with its options and commands, and each of these."""
    context = None
    names = group.list_commands(context) if hasattr(group, "list_commands") else []
    each = {name: group.get_command(context, name) for name in names}
    words = {name: _first_sentence(one.short_help or one.help) for name, one in each.items()}
    options = [_option(one) for one in group.params if one.param_type_name == "option"]
    for one in group.params:
        if one.param_type_name == "argument":
            words |= dict.fromkeys(_choices(one), "")
    options.append(ShellOption(("--help", "-h"), "Show this message and exit.", valued=False))
    yield ShellCommand(path, words, tuple(options))
    for name, one in each.items():
        yield from commands_of(one, (*path, name))


def _option(one: Any) -> ShellOption:
    return ShellOption(tuple(one.opts), _first_sentence(one.help), not one.is_flag, _choices(one))


def _choices(parameter: Any) -> tuple[str, ...]:
    """Return the values of a parameter that has fixed ones."""
    return tuple(map(str, parameter.type_descriptor.choices or ()))


def _first_sentence(text: str | None) -> str:
    return " ".join((text or "").split()).partition(". ")[0].rstrip(".")


def script(shell: str, commands: Iterable[ShellCommand]) -> str:
    """Return the completion script of a shell: bash, zsh or fish."""
    from graphkit.files.assets import BUNDLED

    return {"bash": _bash, "zsh": _zsh, "fish": _fish}[shell](list(commands), " ".join(BUNDLED))


def _quoted(text: str) -> str:
    """Return a text within single quotes, for bash and zsh."""
    return "'" + text.replace("'", "'\\''") + "'"


def _cases(commands: Iterable[ShellCommand]) -> tuple[str, str]:
    """Return the cases of words that extend the path, and those of options that take a value."""
    paths = "|".join(_quoted(f"{' '.join(one.path[:-1])} {one.path[-1]}") for one in commands if one.path)
    values = [
        f"        {'|'.join(_quoted(f'{one.name} {name}') for name in option.names)}) "
        f"values={_quoted(' '.join(option.choices))}; valued=1;;"
        for one in commands
        for option in one.options
        if option.valued
    ]
    return paths, "\n".join(values)


def _bash(commands: list[ShellCommand], bundled: str) -> str:
    paths, values = _cases(commands)
    words = "\n".join(
        f"        {_quoted(one.name)}) words={_quoted(' '.join(one.words))}; flags={_quoted(' '.join(one.flags))};;"
        for one in commands
    )
    return f"""# Completion of graphkit for bash. Save it by:
#   graphkit completion bash > ~/.local/share/bash-completion/completions/graphkit
_graphkit() {{
    local cur=${{COMP_WORDS[COMP_CWORD]}} prev=${{COMP_WORDS[COMP_CWORD-1]}}
    local at='' word words='' flags='' values='' valued='' i
    COMPREPLY=()
    for ((i = 1; i < COMP_CWORD; i++)); do
        word=${{COMP_WORDS[i]}}
        case "$at $word" in
            {paths}) at="${{at:+$at }}$word";;
        esac
    done
    # An @ is a word of its own here, but a part of the word that is replaced.
    if [[ $prev == @ ]]; then cur=@$cur; fi
    if [[ $cur == @* ]]; then
        COMPREPLY=($(compgen -W '{bundled}' -- "$cur"))
        return 0
    fi
    case "$at" in
{words}
    esac
    case "$at $prev" in
{values}
    esac
    if [[ -n $valued ]]; then
        words=$values
    elif [[ $cur == -* ]]; then
        words=$flags
    fi
    COMPREPLY=($(compgen -W "$words" -- "$cur"))
}}
complete -o bashdefault -o default -F _graphkit graphkit
"""


def _zsh(commands: list[ShellCommand], bundled: str) -> str:
    def described(pairs: Iterable[tuple[str, str]]) -> str:
        return " ".join(_quoted(f"{name.replace(':', chr(92) + ':')}:{text}" if text else name) for name, text in pairs)

    paths, values = _cases(commands)
    words = "\n".join(
        f"        {_quoted(one.name)}) found=({described(one.words.items())}); "
        f"flags=({described((name, option.help) for option in one.options for name in option.names)});;"
        for one in commands
    )
    return f"""#compdef graphkit
# Completion of graphkit for zsh. Save it in a folder of fpath, before compinit:
#   graphkit completion zsh > ~/.zfunc/_graphkit
_graphkit() {{
    local cur=${{words[CURRENT]}} prev=${{words[CURRENT-1]}} at='' word values='' valued='' i
    local -a found flags
    for ((i = 2; i < CURRENT; i++)); do
        word=${{words[i]}}
        case "$at $word" in
            ({paths}) at="${{at:+$at }}$word";;
        esac
    done
    case "$at" in
{words}
    esac
    case "$at $prev" in
{values}
    esac
    if [[ $cur == @* ]]; then
        compadd -- {bundled}
    elif [[ -n $valued && -n $values ]]; then
        compadd -- ${{=values}}
    elif [[ -n $valued ]]; then
        _files
    elif [[ $cur == -* ]]; then
        _describe option flags
    elif (( ${{#found}} )); then
        _describe command found
    else
        _files
    fi
}}
if [[ $funcstack[1] == _graphkit ]]; then _graphkit "$@"; else compdef _graphkit graphkit; fi
"""


def _fish(commands: list[ShellCommand], bundled: str) -> str:
    def quoted(text: str) -> str:
        return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"

    paths = " ".join(quoted(f"{' '.join(one.path[:-1])} {one.path[-1]}") for one in commands if one.path)
    lines = []
    for one in commands:
        condition = f"complete -c graphkit -n {quoted(f'__graphkit_at {quoted(one.name)}')}"
        for word, text in one.words.items():
            lines.append(f"{condition} -f -a {quoted(word)} -d {quoted(text)}")
        for option in one.options:
            names = " ".join(f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}" for name in option.names)
            value = (
                f" -x -a {quoted(' '.join(option.choices))}" if option.choices else " -r -F" if option.valued else ""
            )
            lines.append(f"{condition} {names}{value} -d {quoted(option.help)}")
    body = "\n".join(lines)
    return f"""# Completion of graphkit for fish. Save it by:
#   graphkit completion fish > ~/.config/fish/completions/graphkit.fish
function __graphkit_at
    set -l at ''
    for word in (commandline -opc)[2..]
        if contains -- "$at $word" {paths}
            set at (string trim -- "$at $word")
        end
    end
    test "$at" = "$argv[1]"
end
complete -c graphkit -n 'string match -q "@*" -- (commandline -ct)' -f -a '{bundled}'
{body}
"""
