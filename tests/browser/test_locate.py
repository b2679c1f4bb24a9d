"""Where Firefox is, and how it gets there: with made-up machines, nothing is installed and nothing is run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from foxloop_trio.browser import InstallPlan, find_firefox, install_firefox, install_plan
from foxloop_trio.browser._locate import FoundFirefox, locate_firefox
from foxloop_trio.errors import BrowserError


def program(path: Path, text: str = "#!/bin/sh\n") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


def on_path(**programs: Path) -> Callable[[str], str | None]:
    """A PATH with these programs; `_` stands for a hyphen."""
    known = {name.replace("_", "-"): str(path) for name, path in programs.items()}
    return known.get


def test_a_named_program_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Our choice: the argument, then FOXLOOP_FIREFOX, then the usual places."""
    named, other = program(tmp_path / "a"), program(tmp_path / "b")
    monkeypatch.setenv("FOXLOOP_FIREFOX", str(other))
    assert find_firefox(named) == named
    assert find_firefox() == other


@pytest.mark.parametrize("binary", ["/no/such/firefox", "no-such-firefox", "/etc/passwd", "/etc"])
def test_a_named_program_that_cannot_be_run_is_an_error(binary: str) -> None:
    """Our choice: who names a program does not want another one."""
    with pytest.raises(BrowserError, match=f"binary names '{binary}'") as caught:
        find_firefox(binary)
    assert caught.value.code == "firefox-not-found"
    with pytest.raises(BrowserError, match="FOXLOOP_FIREFOX names"):
        locate_firefox(environ={"FOXLOOP_FIREFOX": binary})


def test_esr_is_preferred(tmp_path: Path) -> None:
    """Our choice: firefox-esr, then firefox."""
    esr, release = program(tmp_path / "firefox-esr"), program(tmp_path / "firefox")
    assert locate_firefox(environ={}, which=on_path(firefox_esr=esr, firefox=release)) == FoundFirefox(path=esr)
    assert locate_firefox(environ={}, which=on_path(firefox=release)) == FoundFirefox(path=release)


def test_nothing_is_nothing(tmp_path: Path) -> None:
    """API: None where there is none; no error."""
    assert locate_firefox(environ={"HOME": str(tmp_path)}, platform="win32", which=on_path()) is None


def test_mac_and_windows_have_their_usual_places(tmp_path: Path) -> None:
    """Our choice: written for, not run on them."""
    mac = program(tmp_path / "Applications" / "Firefox.app" / "Contents" / "MacOS" / "firefox")
    assert locate_firefox(environ={"HOME": str(tmp_path)}, platform="darwin", which=on_path()) == FoundFirefox(path=mac)
    windows = program(tmp_path / "Mozilla Firefox" / "firefox.exe")
    assert locate_firefox(environ={"ProgramFiles": str(tmp_path)}, platform="win32", which=on_path()) == FoundFirefox(path=windows)


def test_confined_firefoxes_are_noticed(tmp_path: Path) -> None:
    """Our choice: Snap and Flatpak see only folders of their own, so a profile must lie there."""
    flatpak = program(tmp_path / "org.mozilla.firefox", "#!/bin/sh\nexec /usr/bin/flatpak run org.mozilla.firefox\n")
    found = locate_firefox(flatpak)
    assert found is not None
    assert (found.kind, found.profile_parent(tmp_path)) == ("flatpak", tmp_path / ".var" / "app" / "org.mozilla.firefox")
    snap = locate_firefox(program(tmp_path / "firefox", "#!/bin/sh\nexec /snap/bin/firefox\n"))
    assert snap is not None
    assert (snap.kind, snap.profile_parent(tmp_path)) == ("snap", tmp_path / "snap" / "firefox" / "common")
    assert FoundFirefox(path=snap.path).profile_parent(tmp_path) is None


@pytest.mark.skipif(Path("/snap/bin/firefox").exists(), reason="this machine has the snap")
def test_a_stub_that_only_asks_for_the_snap_is_no_firefox(tmp_path: Path) -> None:
    """Ubuntu: /usr/bin/firefox is a script that says "install the snap" when it is missing."""
    stub = program(
        tmp_path / "firefox", '#!/bin/sh\nif ! [ -x /snap/bin/firefox ]; then echo "requires the firefox snap" >&2; fi\n'
    )
    assert locate_firefox(environ={}, platform="win32", which=on_path(firefox=stub)) is None


HERE = Path("/usr/bin/x")


@pytest.mark.parametrize(
    ("release", "package"),
    [
        ({"ID": "debian"}, "firefox-esr"),
        ({"ID": "raspbian", "ID_LIKE": "debian"}, "firefox-esr"),
        ({"ID": "ubuntu", "ID_LIKE": "debian"}, "firefox"),
        ({"ID": "linuxmint", "ID_LIKE": "ubuntu debian"}, "firefox"),
        ({}, "firefox"),
    ],
)
def test_apt_takes_the_package_of_its_family(release: dict[str, str], package: str) -> None:
    """Issue, item 2: Firefox is firefox-esr on Debian."""
    plan = install_plan(which=on_path(apt_get=HERE), os_release=release, root=True)
    assert (plan.manager, plan.package) == ("apt", package)
    assert [command[:4] for command in plan.commands] == [
        ("env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "update"),
        ("env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "install"),
    ]
    assert plan.commands[1][-1] == package


def test_sudo_is_used_where_it_is_needed_and_there() -> None:
    """Our choice: each command is complete; without root and sudo the error lists them."""
    plan = install_plan(which=on_path(apt_get=HERE, sudo=HERE), os_release={"ID": "debian"}, root=False)
    assert {command[0] for command in plan.commands} == {"sudo"}
    with pytest.raises(BrowserError, match=r"needs root(.|\n)*apt-get install --yes") as caught:
        install_plan(which=on_path(apt_get=HERE), os_release={"ID": "debian"}, root=False)
    assert caught.value.code == "install-impossible"


@pytest.mark.parametrize(("manager", "word"), [("dnf", "firefox"), ("brew", "firefox"), ("winget", "Mozilla.Firefox")])
def test_other_managers_have_one_command(manager: str, word: str) -> None:
    """Issue, item 2: apt, dnf, brew or winget, whichever is there."""
    plan = install_plan(which={manager: "/x"}.get, os_release={}, root=True)
    assert plan.manager == manager
    (command,) = plan.commands
    assert (command[0], word in command) == (manager, True)
    assert str(plan) == " ".join(command)


def test_without_any_manager_it_says_what_to_do() -> None:
    """Issue, item 2: says what to do where it cannot."""
    with pytest.raises(BrowserError, match=r"mozilla\.org/firefox") as caught:
        install_plan(which=on_path(), os_release={}, root=True)
    assert caught.value.code == "install-impossible"


PLAN = InstallPlan(manager="apt", package="firefox-esr", commands=(("one", "a"), ("two", "b")))


class Machine:
    """Where Firefox appears after the last command, or never."""

    def __init__(self, *, statuses: Sequence[int] = (0, 0), found: bool = False, works: bool = True) -> None:
        self.ran: list[Sequence[str]] = []
        self.asked: list[str] = []
        self._statuses = statuses
        self._found = found
        self._works = works

    def find(self) -> Path | None:
        return HERE if self._found or (self._works and len(self.ran) == 2) else None

    def run(self, command: Sequence[str]) -> int:
        self.ran.append(command)
        return self._statuses[len(self.ran) - 1]

    def install(self, *, yes: bool = False, answer: bool = True) -> Path:
        def ask(question: str) -> bool:
            self.asked.append(question)
            return answer

        return install_firefox(yes=yes, ask=ask, run=self.run, find=self.find, plan=lambda: PLAN)


def test_where_firefox_is_found_nothing_is_asked_and_nothing_run() -> None:
    """Issue, item 2."""
    machine = Machine(found=True)
    assert machine.install() == HERE
    assert (machine.asked, machine.ran) == ([], [])


def test_it_asks_first_and_shows_what_it_would_run() -> None:
    """Issue, item 2: asks first unless --yes."""
    machine = Machine()
    assert machine.install() == HERE
    (question,) = machine.asked
    assert "one a\ntwo b" in question
    assert machine.ran == [("one", "a"), ("two", "b")]
    silent = Machine()
    assert silent.install(yes=True) == HERE
    assert silent.asked == []


def test_a_no_runs_nothing() -> None:
    """Our choice: BrowserError install-declined, with the commands to run by hand."""
    machine = Machine()
    with pytest.raises(BrowserError, match="two b") as caught:
        machine.install(answer=False)
    assert (caught.value.code, machine.ran) == ("install-declined", [])


def test_without_a_terminal_it_does_not_wait_for_an_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    """Our choice: in CI a question would hang; it says --yes instead."""
    monkeypatch.setattr("sys.stdin", None)
    machine = Machine()
    with pytest.raises(BrowserError, match="--yes"):
        install_firefox(run=machine.run, find=machine.find, plan=lambda: PLAN)
    assert machine.ran == []


def test_a_command_that_fails_ends_it() -> None:
    """Our choice: the error names command and status; later commands are not run."""
    machine = Machine(statuses=(100, 0))
    with pytest.raises(BrowserError, match="'one a' ended with status 100") as caught:
        machine.install(yes=True)
    assert (caught.value.code, machine.ran) == ("install-failed", [("one", "a")])


def test_an_installation_without_a_firefox_is_told() -> None:
    """Our choice: success of the manager is not believed, Firefox is looked for."""
    with pytest.raises(BrowserError, match="no Firefox is found") as caught:
        Machine(works=False).install(yes=True)
    assert caught.value.code == "install-failed"


def test_a_manager_that_cannot_be_started_is_told() -> None:
    """Our choice: not an OSError."""
    plan = InstallPlan(manager="apt", package="firefox-esr", commands=(("/no/such/program",),))
    with pytest.raises(BrowserError, match="could not be started"):
        install_firefox(yes=True, find=lambda: None, plan=lambda: plan)
