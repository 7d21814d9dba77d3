"""A pytest plugin that runs in the target's interpreter: it traces tests, or tries candidates.

Copied beside the tests under another name and loaded with `-p`; it keeps to Python 3.8 and to the
standard library. What to do stands in the JSON file that PATCH_REPAIR_JOB names; results are
written as JSON lines, so that nothing is lost when the process is ended.
"""

import ast
import gc
import json
import os
import signal
import sys
import time

import pytest

with open(os.environ["PATCH_REPAIR_JOB"], encoding="utf-8") as _file:
    JOB = json.load(_file)
ROOT = os.path.realpath(JOB["root"])
_results = open(JOB["results"], "a", encoding="utf-8")
_progress = os.dup(1)


def _write(record):
    _results.write(json.dumps(record) + "\n")
    _results.flush()


def _say(text):
    try:
        os.write(_progress, (text + "\n").encode())
    except OSError:
        pass


def _relative(name):
    path = os.path.realpath(name)
    if not path.startswith(ROOT + os.sep):
        return None
    return path[len(ROOT) + 1 :].replace(os.sep, "/")


# --- Tracing: which lines each test executes ------------------------------------------------


class Tracer:
    """Lines executed in files under the root, for one test at a time."""

    def __init__(self):
        self.lines = {}
        self._names = {}

    def start(self):
        self.lines = {}
        sys.settrace(self._enter)

    def stop(self):
        sys.settrace(None)
        return {name: sorted(lines) for name, lines in self.lines.items()}

    def _enter(self, frame, _event, _argument):
        name = frame.f_code.co_filename
        known = self._names.get(name)
        if known is None:
            relative = _relative(name) if not name.startswith("<") else None
            known = self._names[name] = relative or ""
        if not known:
            return None
        lines = self.lines.setdefault(known, set())

        def step(inner, event, _argument):
            if event == "line":
                lines.add(inner.f_lineno)
            return step

        return step


class Tracing:
    def __init__(self):
        self._tracer = Tracer()
        self._outcome = {}
        self._frames = []
        self._text = ""

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item):
        self._outcome, self._frames, self._text = {}, [], ""
        traced = time.time() < JOB["trace_until"]
        if traced:
            self._tracer.start()
        yield
        lines = self._tracer.stop() if traced else {}
        failed = any(value == "failed" for value in self._outcome.values())
        passed = self._outcome.get("call") == "passed" and not failed
        _write(
            {
                "test": item.nodeid,
                "outcome": "failed" if failed else "passed" if passed else "skipped",
                "lines": lines,
                "frames": self._frames,
                "text": self._text[-4000:],
            }
        )

    def pytest_sessionfinish(self):
        files = [getattr(module, "__file__", None) for module in list(sys.modules.values())]
        names = {_relative(file) for file in files if file}
        _write({"modules": sorted(name for name in names if name)})

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_makereport(self, item, call):
        done = yield
        report = done.get_result()
        self._outcome[report.when] = report.outcome
        if call.excinfo is not None and report.outcome == "failed":
            self._text = "%s: %s" % (call.excinfo.typename, call.excinfo.value)
            for entry in call.excinfo.traceback:
                name = _relative(str(entry.path))
                if name is not None:
                    self._frames.append([name, entry.lineno + 1])


# --- Trying candidates: a fork each, with the code of one function exchanged ----------------


class Trying:
    def pytest_runtestloop(self, session):
        if session.testsfailed or session.config.option.collectonly:
            return None
        items = {item.nodeid: item for item in session.items}
        failing = [items[name] for name in JOB["failing"] if name in items]
        if not failing:
            _write({"problem": "the failing tests are not collected in the copy"})
            return True
        Search(failing, list(session.items)).run()
        return True


class Search:
    def __init__(self, failing, everything):
        self._failing = failing
        wanted = set(JOB["passing"]) | set(JOB["failing"])
        self._all = [item for item in everything if item.nodeid in wanted]
        self._tried = 0
        self._functions = _functions_by_place()
        self._sources = {}
        self._running = {}

    def run(self):
        waiting = list(reversed(list(enumerate(JOB["candidates"]))))
        complete = []
        total = len(waiting)
        until = JOB["until"]
        while waiting or complete or self._running:
            if time.time() > until:
                break
            while len(self._running) < JOB["workers"] and (complete or waiting):
                if complete:
                    self._start(*complete.pop(), self._all, "all")
                else:
                    self._start(*waiting.pop(), self._failing, "failing")
            for number, candidate, stage, code in self._ended():
                if stage == "failing":
                    self._tried += 1
                    self._say_how_far(total)
                if stage == "failing" and code == 0:
                    complete.append((number, candidate))
                elif self._note(number, stage, code):
                    # Others may be better: look a little longer, not for ever.
                    until = min(until, time.time() + JOB["collect_s"])
        for pid in self._running:
            _end(pid)
            os.waitpid(pid, 0)
        _write({"tried": self._tried, "total": total})

    def _say_how_far(self, total):
        if self._tried % 25 == 0:
            _say("tried %d of %d candidates" % (self._tried, total))

    def _note(self, number, stage, code):
        if stage == "all":
            _write({"candidate": number, "passed": code == 0})
        elif code == 3:
            _write({"candidate": number, "needs_process": True})
        return stage == "all" and code == 0

    def _start(self, number, candidate, items, stage):
        pid = os.fork()
        if pid == 0:
            code = 1
            try:
                _become_quiet()
                code = self._try(candidate, items)
            except BaseException:
                code = 1
            finally:
                os._exit(code)
        limit = JOB["limit_s"] if stage == "failing" else JOB["limit_all_s"]
        self._running[pid] = (number, candidate, stage, time.time() + limit)

    def _ended(self):
        found = []
        for pid, (number, candidate, stage, until) in list(self._running.items()):
            done, status = os.waitpid(pid, os.WNOHANG)
            if done == 0:
                if time.time() < until:
                    continue
                _end(pid)
                os.waitpid(pid, 0)
                code = 1
            else:
                code = os.WEXITSTATUS(status) if os.WIFEXITED(status) else 1
            del self._running[pid]
            found.append((number, candidate, stage, code))
        if not found:
            time.sleep(0.001)
        return found

    def _try(self, candidate, items):
        if candidate["name"]:
            exchanged = self._exchange_code(candidate)
        else:
            exchanged = self._assign_again(candidate)
        if not exchanged:
            return 3
        return 0 if all(_passes(item) for item in items) else 1

    def _exchange_code(self, candidate):
        module = compile(self._edited(candidate), self._path(candidate), "exec", dont_inherit=True)
        code = _find_code(module, candidate["name"], candidate["first"])
        if code is None:
            return False
        functions = self._functions.get((candidate["path"], code.co_name, candidate["first"]), ())
        functions = [f for f in functions if f.__code__.co_freevars == code.co_freevars]
        for function in functions:
            function.__code__ = code
        return bool(functions)

    def _assign_again(self, candidate):
        """Run one assignment of a module anew, and give its value to whoever imported the name."""
        path = self._path(candidate)
        module = _module_of(path)
        tree = ast.parse(self._edited(candidate))
        statements = [node for node in tree.body if node.lineno == candidate["first"]]
        if module is None or len(statements) != 1:
            return False
        before = dict(vars(module))
        one = ast.Module(body=statements, type_ignores=[])
        exec(compile(one, path, "exec", dont_inherit=True), vars(module))
        changed = {k: v for k, v in vars(module).items() if before.get(k) is not v}
        for other in list(sys.modules.values()):
            names = getattr(other, "__dict__", {})
            for name, value in changed.items():
                if name in before and names.get(name) is before[name]:
                    names[name] = value
        return True

    def _path(self, candidate):
        return os.path.join(ROOT, candidate["path"])

    def _edited(self, candidate):
        path = self._path(candidate)
        data = self._sources.get(path)
        if data is None:
            with open(path, "rb") as file:
                data = self._sources[path] = file.read()
        return data[: candidate["start"]] + candidate["text"].encode() + data[candidate["end"] :]


def _module_of(path):
    for module in list(sys.modules.values()):
        file = getattr(module, "__file__", None)
        if file and os.path.realpath(file) == os.path.realpath(path):
            return module
    return None


def _passes(item):
    """Run one test through its hooks, without the reports that cost more than most tests."""
    ok = True
    try:
        item.ihook.pytest_runtest_setup(item=item)
        item.ihook.pytest_runtest_call(item=item)
    except BaseException:
        ok = False
    try:
        item.ihook.pytest_runtest_teardown(item=item, nextitem=None)
    except BaseException:
        ok = False
    # unittest's test cases keep their failures to themselves.
    return ok and not getattr(item, "_excinfo", None)


def _end(pid):
    try:
        os.killpg(pid, signal.SIGKILL)
    except OSError:
        os.kill(pid, signal.SIGKILL)


def _become_quiet():
    os.setsid()
    null = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(null, descriptor)
    gc.disable()


def _functions_by_place():
    found = {}
    for thing in gc.get_objects():
        code = getattr(thing, "__code__", None) if type(thing).__name__ == "function" else None
        if code is None or code.co_filename.startswith("<"):
            continue
        name = _relative(code.co_filename)
        if name is not None:
            found.setdefault((name, code.co_name, code.co_firstlineno), []).append(thing)
    return found


def _find_code(code, name, first):
    for constant in code.co_consts:
        if type(constant) is type(code):
            if constant.co_name == name and constant.co_firstlineno == first:
                return constant
            inner = _find_code(constant, name, first)
            if inner is not None:
                return inner
    return None


def pytest_configure(config):
    config.pluginmanager.register(Tracing() if JOB["mode"] == "trace" else Trying())
