"""Test the sources of data files: folder, cache, download; a sha256 checks every copy."""

import gc
import hashlib
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from fwlab import datasets
from fwlab.datasets.files import data_file

CONTENT = b"a small file" * 10
SUM = hashlib.sha256(CONTENT).hexdigest()
WRONG = hashlib.sha256(b"").hexdigest()
REGISTRY = {"small.npz": SUM, "other.npz": WRONG, "cut.npz": SUM, "absent.npz": SUM}


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        name = self.path.rpartition("/")[2]
        self.server.asked.append(self.path)
        if name == "absent.npz":
            self.send_error(404)
            return
        self.send_response(200)
        self.send_header("Content-Length", str(len(CONTENT)))
        self.end_headers()
        self.wfile.write(CONTENT[:20] if name == "cut.npz" else CONTENT)

    def log_message(self, *arguments):
        pass


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """Provide an empty cache, and no other place to look at."""
    for name in ("FWLAB_DATA", "FWLAB_DATA_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("FWLAB_DATA_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def server(cache, monkeypatch):
    """Provide a local host of the files at FWLAB_DATA_URL; `asked` lists the requests."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.asked = []
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    monkeypatch.setenv("FWLAB_DATA_URL", f"http://127.0.0.1:{server.server_port}/files/")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    yield server
    server.shutdown()
    thread.join()
    server.server_close()
    gc.collect()  # a socket left open would warn here, and warnings are errors


def test_a_download_is_checked_and_kept(server, cache):
    path = data_file("small.npz", REGISTRY)
    assert path == cache / "small.npz" and path.read_bytes() == CONTENT
    assert data_file("small.npz", REGISTRY) == path
    assert server.asked == ["/files/small.npz"]
    assert list(cache.iterdir()) == [path]


def test_a_damaged_cached_copy_is_fetched_anew(server, cache):
    cache.mkdir()
    (cache / "small.npz").write_bytes(CONTENT[:-1])
    assert data_file("small.npz", REGISTRY).read_bytes() == CONTENT
    assert server.asked == ["/files/small.npz"]


@pytest.mark.turns
@pytest.mark.parametrize(
    ("file", "error", "message"),
    [
        ("other.npz", ValueError, f"other.npz' has sha256 {SUM} where {WRONG} was expected"),
        ("cut.npz", OSError, r"cut\.npz' could not be downloaded: .*20 bytes read"),
        ("absent.npz", OSError, r"absent\.npz' could not be downloaded: 404"),
    ],
)
@pytest.mark.usefixtures("server")
def test_a_failed_download_leaves_nothing_behind(file, error, message, cache):
    with pytest.raises(error, match=message) as caught:
        data_file(file, REGISTRY)
    assert "http://127.0.0.1" in str(caught.value)
    assert not cache.exists()


def test_a_failed_download_keeps_the_old_copy(server, cache):
    cache.mkdir()
    (cache / "cut.npz").write_bytes(b"old")
    with pytest.raises(OSError, match="could not be downloaded"):
        data_file("cut.npz", REGISTRY)
    assert (cache / "cut.npz").read_bytes() == b"old"


def test_a_host_that_does_not_answer(server, monkeypatch, cache):
    # A port that was just closed.
    closed = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    closed.server_close()
    monkeypatch.setenv("FWLAB_DATA_URL", f"http://127.0.0.1:{closed.server_port}")
    with pytest.raises(OSError, match="could not be downloaded"):
        data_file("small.npz", REGISTRY)


def test_an_address_without_a_protocol(monkeypatch, cache):
    monkeypatch.setenv("FWLAB_DATA_URL", "localhost/files")
    with pytest.raises(
        ValueError, match=r"FWLAB_DATA_URL must begin with .*; got 'localhost/files'"
    ):
        data_file("small.npz", REGISTRY)


def test_without_a_copy_or_an_address_the_error_says_what_to_set(cache):
    with pytest.raises(FileNotFoundError, match=r"letter\.npz.* FWLAB_DATA .* FWLAB_DATA_URL"):
        datasets.load("letter")


def test_a_damaged_cached_copy_without_an_address(cache):
    cache.mkdir()
    (cache / "small.npz").write_bytes(b"")
    with pytest.raises(ValueError, match=f"small.npz' has sha256 {WRONG} where {SUM} was expected"):
        data_file("small.npz", REGISTRY)


def test_the_folder_comes_first(server, cache, monkeypatch, tmp_path):
    monkeypatch.setenv("FWLAB_DATA", str(tmp_path))
    (tmp_path / "small.npz").write_bytes(CONTENT)
    assert data_file("small.npz", REGISTRY) == tmp_path / "small.npz"
    assert server.asked == [] and not cache.exists()


def test_a_folder_that_lacks_the_file(server, monkeypatch, tmp_path):
    monkeypatch.setenv("FWLAB_DATA", str(tmp_path))
    with pytest.raises(FileNotFoundError) as caught:
        datasets.load("letter")
    assert str(tmp_path) in str(caught.value) and "'letter.npz'" in str(caught.value)
    assert server.asked == []


def test_a_folder_with_other_bytes(monkeypatch, tmp_path):
    monkeypatch.setenv("FWLAB_DATA", str(tmp_path))
    (tmp_path / "letter.npz").write_bytes(CONTENT)
    with pytest.raises(ValueError, match=rf"letter\.npz' has sha256 {SUM} where ae44ec29"):
        datasets.load("letter")


def test_the_default_cache_is_the_users(monkeypatch, tmp_path):
    from fwlab.datasets.files import cache_folder

    monkeypatch.delenv("FWLAB_DATA_CACHE", raising=False)
    assert cache_folder().name == "fwlab" or "fwlab" in cache_folder().parts
