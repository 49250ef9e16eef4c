"""No Dask cluster of the tests, the pages or the benchmarks listens to other machines."""

import re
import shutil
import socket
import subprocess
from contextlib import contextmanager
from ipaddress import ip_address
from pathlib import Path

import pytest
from on_cluster import client_of

from figures.benchmarks import cluster as benchmark

pytestmark = pytest.mark.filterwarnings("ignore")

distributed = pytest.importorskip("distributed", reason="the extra dask is not installed")
psutil = pytest.importorskip("psutil", reason="psutil, which dask's workers need, is missing")

PAGE = Path(__file__).parents[2] / "fwlab" / "docs" / "pages" / "cluster.md"


def listening():
    """Return the addresses at which this process and its children listen."""
    this = psutil.Process()
    found = set()
    for process in (this, *this.children(recursive=True)):
        connections = getattr(process, "net_connections", None) or process.connections
        for connection in connections("inet"):
            if connection.status == psutil.CONN_LISTEN:
                found.add(ip_address(connection.laddr.ip))
    return found


def blocks(language):
    """Return the code of the page in a language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE.read_text("utf-8"), re.M | re.S)


class Opened(Exception):
    """A cluster has been opened and closed again."""


@pytest.fixture
def opened(monkeypatch):
    """Return a list that gets the addresses of each cluster, which is closed at once."""
    seen = []

    class Cluster(distributed.LocalCluster):
        def __enter__(self):
            seen.append(listening())
            self.close()
            raise Opened

    monkeypatch.setattr(distributed, "LocalCluster", Cluster)
    return seen


def assert_none_is_public(addresses):
    assert addresses
    assert not {address for address in addresses if not address.is_loopback}


@pytest.mark.parametrize("processes", [False, True])
def test_clusters_of_the_tests(processes):
    with client_of(1, processes=processes):
        assert_none_is_public(listening())


@pytest.mark.parametrize("family, host", [
    (socket.AF_INET, "0.0.0.0"),
    (socket.AF_INET6, "::"),
])  # fmt: skip
def test_a_public_port_would_show(family, host):
    with socket.socket(family) as public:
        try:
            public.bind((host, 0))
        except OSError:
            pytest.skip(f"this machine has no addresses like {host}")
        public.listen()
        with pytest.raises(AssertionError):
            assert_none_is_public(listening())


def test_a_cluster_without_a_key_answers_strangers():
    with client_of(1, protocol="tcp://", host="127.0.0.1") as client:
        assert strangers_answer(client.scheduler.address)


def test_the_cluster_of_the_page(opened):
    (code,) = blocks("python")
    with pytest.raises(Opened):
        exec(compile(code, str(PAGE), "exec"), {"__name__": "page"})
    assert_none_is_public(opened[0])


def test_clusters_of_the_benchmarks(opened, monkeypatch):
    @contextmanager
    def no_sets(quick):
        yield {"none": ()}

    monkeypatch.setattr(benchmark, "sets", no_sets)
    monkeypatch.setattr(benchmark, "serial", lambda *data: [])
    with pytest.raises(Opened):
        benchmark.run(quick=True)
    assert_none_is_public(opened[0])


def test_the_encrypted_cluster_of_the_page(tmp_path, monkeypatch, capsys):
    """It answers its own client, and nobody who lacks the key."""
    if shutil.which("openssl") is None:
        pytest.skip("openssl, which makes the key, is not installed")
    monkeypatch.chdir(tmp_path)
    (key,), (code,) = blocks("sh"), blocks("py")
    subprocess.run(key, shell=True, check=True, capture_output=True)
    answers = []

    class Client(distributed.Client):
        def __exit__(self, *error):
            assert_none_is_public(listening())
            assert self.scheduler.address.startswith("tls://")
            answers.append(strangers_answer(self.scheduler.address))
            return super().__exit__(*error)

    monkeypatch.setattr(distributed, "Client", Client)
    exec(compile(code, str(PAGE), "exec"), {"__name__": "page"})
    assert capsys.readouterr().out == "3\n"
    assert answers == [False]


def strangers_answer(address):
    """Return whether a client without a key gets an answer."""
    plain = address.replace("tls://", "tcp://")
    try:
        distributed.client.Client(plain, timeout=1, set_as_default=False).close()
    except OSError:
        return False
    return True
