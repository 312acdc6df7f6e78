"""Hostile inputs: what each command says to them, how long it takes and how much memory.

    python benchmarks/hostile_inputs.py            prints the table of SECURITY.md
    python benchmarks/hostile_inputs.py --only bomb

Every input is made in a temporary folder and read by the real command in a process of its own, whose time and peak
memory are those that the operating system counted.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tarfile
import tempfile
import time
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LONGEST_S = 120
_DATA = "from tpbench_data.cli import main; main()"
_SCORE = "from tpbench_score.cli import main; main()"
# The peak that the system reports for a child counts what its parent held when it was started, so on Linux the
# child says itself what its own memory came to.
_PEAK = """
import atexit, os
def peak():
    with open("/proc/self/status") as status, open(os.environ["PEAK_FILE"], "w") as file:
        file.write(next(line.split()[1] for line in status if line.startswith("VmHWM:")))
if os.path.exists("/proc/self/status"):
    atexit.register(peak)
"""


@dataclass(frozen=True)
class Result:
    """What one input led to.

    Attributes:
        name: The input.
        command: What read it.
        exit: Exit code, ``None`` where it ran past `LONGEST_S`.
        seconds: CPU time, user and system: what the input costs, however busy the machine is.
        mebibytes: Peak resident memory.
        said: The last line that it printed.
        everything: All that it printed.
    """

    name: str
    command: str
    exit: int | None
    seconds: float
    mebibytes: float
    said: str
    everything: str


@dataclass(frozen=True)
class Case:
    """A hostile input.

    Attributes:
        name: What it is.
        make: Writes it into a folder and returns the arguments of the command.
        program: ``tpbench-data`` or ``tpbench-score``.
        accepted: Whether it is odd but legal, so that the command must succeed on it.
    """

    name: str
    make: Callable[[Path], list[str]]
    program: str = "tpbench-data"
    accepted: bool = False


def good_release(folder: Path) -> Path:
    """A small sound release, to be spoilt."""
    dialogue = {
        "dialogue_id": "d1",
        "turns": [
            {"speaker": "user", "text": "A table for two in town.", "state": {"cafe": {"time": ["6 pm"]}}},
            {"speaker": "system", "text": "At 6 pm?"},
            {"speaker": "user", "text": "No, make it 8 pm.", "state": {"cafe": {"time": ["8 pm"]}}},
            {"speaker": "system", "text": "Done, 8 pm."},
        ],
    }
    (folder / "own.jsonl").write_text(json.dumps(dialogue) + "\n", encoding="utf-8")
    out = folder / "release"
    run = [sys.executable, "-c", _DATA, "build", "--corpus", f"own={folder / 'own.jsonl'}", "--out", str(out)]
    subprocess.run(run, check=True, capture_output=True, env=_environment())
    return out


def _environment() -> dict[str, str]:
    return os.environ | {"PYTHONPATH": str(ROOT)}


def _manifest(text: Callable[[str], str]) -> Callable[[Path], list[str]]:
    def make(folder: Path) -> list[str]:
        release = good_release(folder)
        file = release / "manifest.json"
        file.write_text(text(file.read_text(encoding="utf-8")), encoding="utf-8")
        return ["validate", str(release)]

    return make


def _sparse_manifest(folder: Path) -> list[str]:
    release = good_release(folder)
    with (release / "manifest.json").open("r+b") as handle:
        handle.truncate(2**30)
    return ["validate", str(release)]


def _put(release: Path, path: str, data: bytes, rows: int | None) -> None:
    """Lists a file with fitting hash and digest, as a careful forger would."""
    from tpbench_data.canonical import pretty_json, sha256_hex
    from tpbench_data.release.manifest import digest_of

    (release / path).parent.mkdir(parents=True, exist_ok=True)
    (release / path).write_bytes(data)
    file = release / "manifest.json"
    manifest = json.loads(file.read_text(encoding="utf-8"))
    entry = {"path": path, "sha256": sha256_hex(data), "bytes": len(data), "rows": rows}
    others = [found for found in manifest["files"] if found["path"] != path]
    manifest["files"] = sorted([*others, entry], key=lambda found: str(found["path"]))
    manifest["digest"] = digest_of(manifest)
    file.write_text(pretty_json(manifest), encoding="utf-8")


def _outputs(make_text: Callable[[], object], rows: int, plain: bool = False) -> Callable[[Path], list[str]]:
    """A release whose outputs have an odd text column."""

    def make(folder: Path) -> list[str]:
        import pyarrow as pa
        import pyarrow.parquet as pq

        from tpbench_data.release.schema import OUTPUTS

        release = good_release(folder)
        arrays = [make_text() if field.name == "text" else pa.nulls(rows, field.type) for field in OUTPUTS]
        sink = pa.BufferOutputStream()
        pq.write_table(
            pa.table(arrays, names=OUTPUTS.names), sink, compression="zstd", compression_level=19, store_schema=False,
            use_dictionary=not plain, data_page_size=2**31 - 1, write_statistics=False,
        )  # fmt: skip
        _put(release, "data/outputs/test-00000-of-00001.parquet", bytes(sink.getvalue()), rows)
        return ["validate", str(release)]

    return make


def _dictionary_bomb() -> object:
    import pyarrow as pa

    return pa.DictionaryArray.from_arrays(pa.array([0] * 300_000, pa.int32()), pa.array(["x" * 1_000_000]))


def _page_bomb() -> object:
    import pyarrow as pa

    return pa.array(["x" * 2**27])


def _many_nulls() -> object:
    import pyarrow as pa

    return pa.nulls(50_000_000, pa.string())


def _megabyte_answer() -> object:
    import pyarrow as pa

    return pa.array(["{" * 1_000_000])


def _file(path: str, data: Callable[[], bytes], rows: int | None = None) -> Callable[[Path], list[str]]:
    def make(folder: Path) -> list[str]:
        release = good_release(folder)
        _put(release, path, data(), rows)
        return ["validate", str(release)]

    return make


def _link(folder: Path) -> list[str]:
    release = good_release(folder)
    (release / "data" / "dialogues").rename(folder / "elsewhere")
    (release / "data" / "dialogues").symlink_to(folder / "elsewhere")
    return ["validate", str(release)]


def _corpus(name: str, write: Callable[[Path], None]) -> Callable[[Path], list[str]]:
    def make(folder: Path) -> list[str]:
        write(folder / name)
        corpus = "own" if name.endswith(".jsonl") else "sgd"
        return ["build", "--corpus", f"{corpus}={folder / name}", "--out", str(folder / "out")]

    return make


def _tar_bomb(path: Path) -> None:
    with tarfile.open(path, "w:gz", compresslevel=1) as archive:
        member = tarfile.TarInfo("train/dialogues_001.json")
        member.size = 600 * 2**20
        archive.addfile(member, _Zeros(member.size))  # type: ignore[arg-type]


def _zip_bomb(path: Path) -> None:
    with (
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("train/dialogues_001.json", "w") as f,
    ):
        for _ in range(600):
            f.write(bytes(2**20))


class _Zeros:
    """A file of zero bytes."""

    def __init__(self, size: int) -> None:
        self.left = size

    def read(self, size: int = -1) -> bytes:
        size = self.left if size < 0 else min(size, self.left)
        self.left -= size
        return bytes(size)


def _answers(*texts: str) -> Callable[[Path], list[str]]:
    def make(folder: Path) -> list[str]:
        file = folder / "answers.jsonl"
        lines = [
            {"id": f"{number}-{probe}", "probe": probe, "corpus": "sgd", "text": text, "reference_goal": "book a table",
             "reference_value": "8 pm"}
            for number, text in enumerate(texts)
            for probe in ("initial_goal", "current_value", "joint_recovery")
        ]  # fmt: skip
        file.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
        return ["answers", str(file), "--out", str(folder / "scores.jsonl")]

    return make


def _run_json(folder: Path) -> list[str]:
    release = good_release(folder)
    run = folder / "run"
    run.mkdir()
    with (run / "run.json").open("wb") as handle:
        handle.truncate(2**30)
    return ["freeze", str(release), "--outputs", str(run), "--release-version", "9.0.0", "--out", str(folder / "out")]


def _random_bytes() -> bytes:
    import random

    return b"PAR1" + random.Random(7).randbytes(200_000) + b"\x10\x00\x00\x00PAR1"


def _wide_json() -> str:
    return '{"schema_version": 1, "files": [' + ",".join(["{}"] * 2_500_000) + "]}"


CASES = (
    Case("none: a sound release", lambda folder: ["validate", str(good_release(folder))], accepted=True),
    Case("manifest of 1 GB", _sparse_manifest),
    Case("manifest of 100,000 nested lists", _manifest(lambda text: "[" * 100_000 + "]" * 100_000)),
    Case("manifest of 2,500,000 empty objects (7.5 MB)", _manifest(lambda text: _wide_json())),
    Case("manifest with a number of 5,000 digits", _manifest(lambda text: text.replace("200", "9" * 5000, 1))),
    Case("manifest that lists ../../etc/passwd", _manifest(lambda text: text.replace("README.md", "../../etc/passwd"))),
    Case("Parquet: 5 KB that spell out to 300 GB (dictionary bomb)", _outputs(_dictionary_bomb, 300_000)),
    Case("Parquet: one page that unpacks 10,000-fold to 128 MB", _outputs(_page_bomb, 1, plain=True)),
    Case("Parquet: 50 million rows of nulls", _outputs(_many_nulls, 50_000_000)),
    Case("Parquet: 200 KB of random bytes", _file("data/runs/test-00000-of-00001.parquet", _random_bytes, 1)),
    Case("Parquet: footer of 2 GB stated", _file("data/runs/x.parquet", lambda: b"PAR1" + b"\xff\xff\xff\x7fPAR1", 1)),
    Case("stored table nested 200,000 deep", _file("tables/x.json", lambda: b"[" * 200_000)),
    Case("stored table of 20 MB", _file("tables/x.json", lambda: b"[" + b"0," * 10_000_000 + b"0]")),
    Case("program among the data", _file("data/runs/load.py", lambda: b"import os")),
    Case("pickle among the data", _file("data/runs/rows.pkl", lambda: b"cos\nsystem\n(S'true'\ntR.")),
    Case("folder of tables that is a link", _link),
    Case("an answer of 1 MB of braces in the outputs", _outputs(_megabyte_answer, 1)),
    Case("run.json of 1 GB", _run_json),
    Case("corpus: tar.gz of 3 MB that unpacks to 600 MB", _corpus("sgd.tar.gz", _tar_bomb)),
    Case("corpus: zip of 600 KB that unpacks to 600 MB", _corpus("sgd.zip", _zip_bomb)),
    Case("corpus: a JSON line nested 1,000,000 deep",
         _corpus("own.jsonl", lambda path: path.write_bytes(b"[" * 1_000_000) and None)),
    Case("corpus: one line of 64 MB without an end",
         _corpus("own.jsonl", lambda path: path.write_bytes(b'{"dialogue_id": "' + b"x" * 2**26) and None)),
    Case("answers of 1 MB: text, braces, quotes, spaces",
         _answers("8 pm " * 200_000, "{" * 1_000_000, '"' * 1_000_000, " " * 1_000_000), "tpbench-score", True),
    Case("answers of 10,000 braces, nested and in pairs",
         _answers("{" * 10_000 + "}" * 10_000, "{}" * 10_000, '{"value":' * 10_000, "```json\n" * 10_000),
         "tpbench-score", True),
    Case("answer of 1 MB that is one regular-expression trap",
         _answers("12:" * 333_333, "a; " * 333_333, "8 p." * 250_000), "tpbench-score", True),
)  # fmt: skip


def measure(case: Case, folder: Path) -> Result:
    """Makes the input and runs the command on it.

    The input is made in another process: the peak memory of a process counts that of its parent at the fork, so
    the parent must stay small.
    """
    maker = [sys.executable, __file__, "--make", case.name, str(folder)]
    made = subprocess.run(maker, check=True, capture_output=True, text=True, env=_environment())
    arguments = json.loads(made.stdout.splitlines()[-1])
    code = _PEAK + (_DATA if case.program == "tpbench-data" else _SCORE)
    peak_file = folder / "peak.txt"
    environment = _environment() | {"PEAK_FILE": str(peak_file)}
    began = time.perf_counter()
    with tempfile.TemporaryFile() as printed:
        child = subprocess.Popen(
            [sys.executable, "-c", code, *arguments], stdout=printed, stderr=printed, env=environment
        )
        while True:
            pid, status, usage = os.wait4(child.pid, os.WNOHANG)
            if pid:
                exit_code: int | None = os.waitstatus_to_exitcode(status)
                break
            if time.perf_counter() - began > LONGEST_S:
                child.kill()
                _, _, usage = os.wait4(child.pid, 0)
                exit_code = None
                break
            time.sleep(0.01)
        seconds = usage.ru_utime + usage.ru_stime
        printed.seek(0)
        text = BytesIO(printed.read()).getvalue().decode("utf-8", "replace").replace(str(folder), "DIR")
    child.returncode = exit_code
    lines = [line for line in text.splitlines() if line] or ["(nothing)"]
    # The forger did not mend the card and the metadata too; their complaints are not the answer looked for.
    told = [line for line in lines if not line.startswith(("README.md", "croissant.json")) and "found" not in line]
    said = told[0] if told else lines[0]
    unit = 2**10 if sys.platform != "darwin" else 2**20
    peak = int(peak_file.read_text()) / 2**10 if peak_file.exists() else usage.ru_maxrss / unit
    return Result(case.name, arguments[0], exit_code, seconds, peak, said, text)


def main() -> None:
    """Prints the table."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--only", default="", help="Only inputs whose name holds this.")
    options.add_argument("--make", nargs=2, metavar=("NAME", "FOLDER"), help=argparse.SUPPRESS)
    given = options.parse_args()
    if given.make:
        case = next(case for case in CASES if case.name == given.make[0])
        print(json.dumps(case.make(Path(given.make[1]))))
        return
    print("| input | command | exit | CPU s | MiB | answer |")
    print("|---|---|---:|---:|---:|---|")
    for case in CASES:
        if given.only in case.name:
            with tempfile.TemporaryDirectory() as place:
                found = measure(case, Path(place))
            said = found.said if len(found.said) <= 110 else f"{found.said[:107]}..."
            said = said.replace("|", "\\|").replace("<", "&lt;")
            figures = f"{found.exit} | {found.seconds:.1f} | {found.mebibytes:.0f}"
            print(f"| {found.name} | `{found.command}` | {figures} | {said} |", flush=True)


if __name__ == "__main__":
    main()
