"""The shape of the package, held by tests: who may import whom, purity, sizes, registries."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import patch_agent

PACKAGE = Path(patch_agent.__file__).parent
MODULES = sorted(PACKAGE.rglob("*.py"))

# A part may import the parts named here (and itself). cli sees the composition root and what it
# hands out; the composition root sees everything.
ALLOWED = {
    "core": set(),
    "execution": {"core"},
    "agent": {"core"},
    "ui": {"core", "execution"},
    "tools": {"core", "execution", "runners", "workspace"},
    "runners": {"core", "execution"},
    "models": {"core", "execution"},
    "models/offline": {"core", "execution", "runners", "models"},
    "workers": {"core", "execution"},
    "stores": {"core", "execution"},
    "workspace": {"core", "execution"},
    "settings": {"core"},
    "bootstrap": {
        "core", "execution", "agent", "ui", "tools", "runners", "models", "models/offline",
        "workers", "stores", "workspace", "settings",
    },
    "cli": {"core", "bootstrap", "settings", "ui", "agent"},
    "__main__": {"cli"},
}  # fmt: skip
IMPURE = {
    "os", "sys", "io", "pathlib", "subprocess", "socket", "random", "secrets", "time", "datetime",
    "shutil", "tempfile", "threading", "logging", "signal", "sqlite3", "urllib", "http", "uuid",
}  # fmt: skip
HEAVY = {"anthropic", "rich", "genai_prices", "coverage", "charset_normalizer", "httpx"}
MAX_MODULE_LINES = 350
MAX_FUNCTION_LINES = 50
MAX_METHODS = 12
MAX_PARAMETERS = 6
MAX_INTERNAL_IMPORTS = 10
STARTS_PROCESSES = {"subprocess", "multiprocessing", "pty"}


def part_of(path: Path) -> str:
    relative = path.relative_to(PACKAGE)
    if relative.parts[:2] == ("models", "offline"):
        return "models/offline"
    return relative.parts[0] if len(relative.parts) > 1 else relative.stem


def imports_of(path: Path, *, top_only: bool = False) -> Iterator[tuple[str, int]]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in tree.body if top_only else ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module, node.lineno
            if node.module == "patch_agent" or node.module.count(".") == 1:
                yield from ((f"{node.module}.{alias.name}", node.lineno) for alias in node.names)


def internal_part(name: str) -> str | None:
    parts = name.split(".")
    if parts[0] != "patch_agent" or len(parts) == 1:
        return None
    if parts[1:3] == ["models", "offline"]:
        return "models/offline"
    return parts[1]


def test_imports_point_inward_only() -> None:
    wrong = []
    for path in MODULES:
        part = part_of(path)
        if part == "__init__":
            continue
        for name, line in imports_of(path):
            target = internal_part(name)
            if target in (None, part, "__version__"):
                continue
            if target not in ALLOWED[part]:
                wrong.append(f"{path.relative_to(PACKAGE)}:{line} imports {name}")
    assert wrong == []


def test_the_core_is_pure_and_standard_library_only() -> None:
    wrong = []
    for path in (PACKAGE / "core").glob("*.py"):
        for name, line in imports_of(path):
            root = name.split(".")[0]
            if root in IMPURE or (root != "patch_agent" and root not in sys.stdlib_module_names):
                wrong.append(f"{path.name}:{line} imports {name}")
        calls = [
            node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call)
        ]
        names = [call.func.id for call in calls if isinstance(call.func, ast.Name)]
        wrong += [
            f"{path.name} calls {name}" for name in names if name in ("open", "print", "input")
        ]
    assert wrong == []


def test_heavy_packages_are_imported_on_use() -> None:
    wrong = [
        f"{path.relative_to(PACKAGE)}:{line} imports {name} at its top"
        for path in MODULES
        for name, line in imports_of(path, top_only=True)
        if name.split(".")[0] in HEAVY
    ]
    assert wrong == []


def test_help_loads_nothing_heavy() -> None:
    code = (
        "import sys\n"
        "from patch_agent.cli.app import app\n"
        "app(args=['fix', '--help'], standalone_mode=False)\n"
        f"print(sorted(set(sys.modules) & {HEAVY!r}), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr.strip().splitlines()[-1] == "[]"


def test_only_the_floor_starts_processes() -> None:
    wrong = []
    for path in MODULES:
        part = part_of(path)
        for name, line in imports_of(path):
            root = name.split(".")[0]
            if root in STARTS_PROCESSES and part != "execution" and path.name != "worker.py":
                wrong.append(f"{path.relative_to(PACKAGE)}:{line} imports {name}")
    assert wrong == []


def test_no_module_is_too_long() -> None:
    long = {
        str(path.relative_to(PACKAGE)): count
        for path in MODULES
        if (count := len(path.read_text(encoding="utf-8").splitlines())) > MAX_MODULE_LINES
    }
    assert long == {}
    assert len((PACKAGE / "agent" / "loop.py").read_text().splitlines()) <= 160


def test_functions_and_classes_stay_small() -> None:
    wrong = []
    for path in MODULES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            where = f"{path.relative_to(PACKAGE)}:{getattr(node, 'lineno', 0)}"
            if isinstance(node, ast.FunctionDef):
                if (node.end_lineno or 0) - node.lineno + 1 > MAX_FUNCTION_LINES:
                    wrong.append(f"{where} {node.name} is too long")
                arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
                named = [a for a in arguments if a.arg not in ("self", "cls")]
                if len(named) > MAX_PARAMETERS and part_of(path) != "cli":
                    wrong.append(f"{where} {node.name} has {len(named)} parameters")
            if isinstance(node, ast.ClassDef):
                methods = [item for item in node.body if isinstance(item, ast.FunctionDef)]
                if len(methods) > MAX_METHODS:
                    wrong.append(f"{where} {node.name} has {len(methods)} methods")
    assert wrong == []


def test_modules_know_few_others() -> None:
    wrong = {}
    for path in MODULES:
        if part_of(path) in ("bootstrap", "__main__"):
            continue
        known = {
            node.module
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("patch_agent.")
        }
        allowed = MAX_INTERNAL_IMPORTS if path.name != "registry.py" else 20
        if len(known) > allowed:
            wrong[str(path.relative_to(PACKAGE))] = len(known)
    assert wrong == {}


def test_every_module_says_what_it_is_for() -> None:
    silent = [
        str(path.relative_to(PACKAGE))
        for path in MODULES
        if not ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
    ]
    assert silent == []


def test_nothing_is_left_for_later() -> None:
    marks = ("TO" + "DO:", "FIX" + "ME", "XX" + "X", "NotImplemented" + "Error")
    found = [
        f"{path.relative_to(PACKAGE)}: {mark}"
        for path in MODULES
        for mark in marks
        if mark in path.read_text(encoding="utf-8")
    ]
    assert found == []


def test_every_tool_file_is_in_the_registry() -> None:
    from patch_agent.tools import registry

    makers = {maker.__module__ for maker in registry.TOOLS}
    makers.add("patch_agent.tools.repair_search")
    helpers = {"__init__", "guard", "registry", "toolbox", "truncate"}
    files = {
        f"patch_agent.tools.{p.stem}"
        for p in (PACKAGE / "tools").glob("*.py")
        if p.stem not in helpers
    }
    assert files == makers


def test_every_runner_is_in_the_registry() -> None:
    from patch_agent.runners.registry import RUNNERS

    adapters = {
        node.name
        for path in (PACKAGE / "runners").glob("*.py")
        if path.stem != "runner"
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.ClassDef)
        and {"detect", "recognises"} <= {getattr(item, "name", "") for item in node.body}
    }
    assert adapters == {type(runner).__name__ for runner in RUNNERS}


def test_every_repair_operator_is_in_the_registry() -> None:
    from patch_agent.models.offline.operators.registry import OPERATORS

    functions = {
        node.name
        for path in (PACKAGE / "models" / "offline" / "operators").glob("*.py")
        if path.stem not in ("__init__", "registry", "site")
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_")
    }
    assert functions == {entry.name for entry in OPERATORS}


def test_the_table_of_parts_in_the_documentation_names_every_part() -> None:
    text = (PACKAGE.parent / "ARCHITECTURE.md").read_text(encoding="utf-8")
    parts = [path.name for path in PACKAGE.iterdir() if (path / "__init__.py").exists()]
    assert [part for part in parts if f"`{part}/`" not in text] == []
