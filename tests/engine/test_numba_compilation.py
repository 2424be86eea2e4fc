import os
from pathlib import Path

import pytest

from fresh_python import run_python
from plurivox.engine import numba_compilation

SHOW = "from plurivox.engine import numba_compilation; print(numba_compilation.compiled_code_cache_folder_or_none())"


def test_importing_plurivox_does_not_import_numba():
    steps = "plurivox, plurivox.aggregate, plurivox.engine.parallel_task_blocks, plurivox.engine.em"
    assert run_python(f"import sys, {steps}; print('numba' in sys.modules)") == "False"


def test_machine_code_is_cached_next_to_the_sources_or_in_numba_cache_dir(tmp_path):
    assert Path(run_python(SHOW)).parent == numba_compilation.ENGINE_FOLDER / "__pycache__"
    assert Path(run_python(SHOW, NUMBA_CACHE_DIR=str(tmp_path))).parent == tmp_path


@pytest.mark.parametrize("home", ["writable", "not writable"])
def test_a_read_only_package_caches_in_the_users_cache_or_a_private_folder(tmp_path, home):
    place = tmp_path / "cache"
    if home == "writable":
        place.mkdir()
    else:
        place.write_text("a file where a folder should be: nobody, not even root, can write below it")
    code = (
        "from plurivox.engine import numba_compilation; ours = numba_compilation._create_folder_return_whether_private\n"
        "outside = lambda folder: numba_compilation.ENGINE_FOLDER not in folder.parents and ours(folder)\n"
        "numba_compilation._create_folder_return_whether_private = outside\n"
        "print(numba_compilation.compiled_code_cache_folder_or_none())"
    )
    found = Path(run_python(code, XDG_CACHE_HOME=str(place), TMPDIR=str(tmp_path)))
    expected = place / "plurivox" if home == "writable" else tmp_path / f"plurivox-{os.getuid()}"
    assert found.parent == expected and found.is_dir()


def test_numba_cache_setting_of_other_packages_is_unchanged():
    before = numba_compilation.numba_config.CACHE_DIR
    numba_compilation.compile_kernel(run_python)
    assert before == numba_compilation.numba_config.CACHE_DIR


def test_a_change_of_any_source_changes_the_cache_folder(tmp_path, monkeypatch):
    (tmp_path / "kernels").mkdir()
    (tmp_path / "kernels" / "helper.py").write_text("a = 1")
    monkeypatch.setattr(numba_compilation, "ENGINE_FOLDER", tmp_path)
    before = numba_compilation._engine_source_hash()
    (tmp_path / "kernels" / "helper.py").write_text("a = 2")
    assert numba_compilation._engine_source_hash() != before


def test_a_folder_of_another_user_is_not_trusted(tmp_path, monkeypatch):
    assert numba_compilation._create_folder_return_whether_private(tmp_path / "mine")
    monkeypatch.setattr(os, "getuid", lambda: 4242)
    assert not numba_compilation._create_folder_return_whether_private(tmp_path / "mine")


def test_one_process_at_a_time_compiles_a_kernel(tmp_path):
    fcntl = pytest.importorskip("fcntl")
    file = tmp_path / "kernel.lock"
    with numba_compilation._file_lock(file), file.open("a") as other, pytest.raises(BlockingIOError):
        fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
    with file.open("a") as other:
        fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)  # free again
    with numba_compilation._file_lock(tmp_path / "no folder" / "kernel.lock"):
        pass  # a cache that cannot be written is used without locks
