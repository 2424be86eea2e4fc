import pytest

from plurivox.engine import available_memory_and_aligned_arrays

resource = pytest.importorskip("resource")


def test_available_memory_is_limited_by_machine_and_container(tmp_path, monkeypatch):
    (tmp_path / "meminfo").write_text("MemTotal: 900 kB\nMemAvailable:    500 kB\n")
    monkeypatch.setattr(available_memory_and_aligned_arrays, "MEMINFO", tmp_path / "meminfo")
    monkeypatch.setattr(available_memory_and_aligned_arrays, "CGROUP", tmp_path)
    assert available_memory_and_aligned_arrays.available_memory_or_none() == 500 * 1024
    (tmp_path / "memory.max").write_text("max\n")
    (tmp_path / "memory.current").write_text("1000\n")
    assert available_memory_and_aligned_arrays.available_memory_or_none() == 500 * 1024
    (tmp_path / "memory.max").write_text("3000\n")
    assert available_memory_and_aligned_arrays.available_memory_or_none() == 2000


def test_available_memory_is_limited_by_the_address_space(monkeypatch):
    monkeypatch.setattr(resource, "getrlimit", lambda _: (2**60, 2**60))
    pages = int(available_memory_and_aligned_arrays.STATM.read_text().split()[0])
    left = 2**60 - pages * resource.getpagesize()
    assert abs(available_memory_and_aligned_arrays._available_address_space() - left) < 2**30
    monkeypatch.setattr(resource, "getrlimit", lambda _: (1000, 2**60))
    assert available_memory_and_aligned_arrays.available_memory_or_none() == 0


def test_available_memory_is_none_if_unknown(tmp_path, monkeypatch):
    monkeypatch.setattr(available_memory_and_aligned_arrays, "MEMINFO", tmp_path / "none")
    monkeypatch.setattr(available_memory_and_aligned_arrays, "CGROUP", tmp_path / "none")
    assert available_memory_and_aligned_arrays.available_memory_or_none() is None


def test_aligned_arrays_start_a_cache_line():
    for n in (1, 7, 8, 1001):
        zeros = available_memory_and_aligned_arrays.cache_line_aligned_zeros(n)
        assert zeros.shape == (n,) and not zeros.any() and zeros.ctypes.data % 64 == 0
