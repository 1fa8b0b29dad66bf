"""etcd, the API server and, for a whole cluster, what acts on its objects."""

import json
import secrets
import ssl
import urllib.error
import urllib.request
from pathlib import Path

from tests.cluster.node.commands import run, start, wait
from tests.cluster.node.place import API_PORT, ETCD_PEER_PORT, ETCD_PORT, SERVICES, Place

_ETCD = f"http://127.0.0.1:{ETCD_PORT}"
_LEAF = (
    "basicConstraints=critical,CA:FALSE",
    "keyUsage=critical,digitalSignature,keyEncipherment",
)


def start_api_server(place: Place) -> None:
    """Starts etcd and the API server, with fresh keys where there are none; waits for both."""
    token = _ensure_keys(place)
    _write_kubeconfig(place, token)
    start(place, "etcd", _etcd(place))
    start(place, "kube-apiserver", _api_server(place))
    wait(place, "kube-apiserver", lambda: _is_ready(place, token))


def start_controllers(place: Place) -> None:
    """Starts the controller manager and the scheduler."""
    common = [f"--kubeconfig={place.kubeconfig}", "--leader-elect=false"]
    manager = [
        place.program("kube-controller-manager"),
        *common,
        "--service-account-private-key-file=pki/sa.key",
        "--use-service-account-credentials",
        "--root-ca-file=pki/ca.crt",
    ]
    start(place, "kube-controller-manager", manager)
    start(place, "kube-scheduler", [place.program("kube-scheduler"), *common])


def _etcd(place: Place) -> list[str]:
    return [
        place.program("etcd"),
        "--data-dir=etcd",
        f"--listen-client-urls={_ETCD}",
        f"--advertise-client-urls={_ETCD}",
        f"--listen-peer-urls=http://127.0.0.1:{ETCD_PEER_PORT}",
        "--unsafe-no-fsync",  # a test cluster may lose its objects with its machine
        "--log-level=warn",
    ]


def _api_server(place: Place) -> list[str]:
    return [
        place.program("kube-apiserver"),
        f"--etcd-servers={_ETCD}",
        f"--secure-port={API_PORT}",
        f"--advertise-address={place.ip}",
        f"--service-cluster-ip-range={SERVICES}",
        "--tls-cert-file=pki/apiserver.crt",
        "--tls-private-key-file=pki/apiserver.key",
        "--client-ca-file=pki/ca.crt",
        "--service-account-key-file=pki/sa.pub",
        "--service-account-signing-key-file=pki/sa.key",
        "--service-account-issuer=https://kubernetes.default.svc",
        "--kubelet-client-certificate=pki/kubelet-client.crt",
        "--kubelet-client-key=pki/kubelet-client.key",
        "--token-auth-file=pki/tokens.csv",
        "--authorization-mode=Node,RBAC",
        "--allow-privileged=true",
    ]


def _is_ready(place: Place, token: str) -> bool:
    context = ssl.create_default_context(cafile=place.folder / "pki" / "ca.crt")
    request = urllib.request.Request(
        f"https://127.0.0.1:{API_PORT}/readyz", headers={"Authorization": f"Bearer {token}"}
    )
    try:
        with urllib.request.urlopen(request, timeout=5, context=context) as response:  # noqa: S310  # ours
            return bool(response.read() == b"ok")
    except (urllib.error.URLError, OSError):
        return False


def _ensure_keys(place: Place) -> str:
    """The administrator's token; the keys are made once."""
    folder = place.folder / "pki"
    tokens = folder / "tokens.csv"
    if not tokens.exists():
        _make_keys(folder, place.ip)
        tokens.write_text(f"{secrets.token_hex(16)},admin,admin,system:masters\n")
        tokens.chmod(0o600)
    return tokens.read_text().partition(",")[0]


def _make_keys(folder: Path, ip: str) -> None:
    run(["openssl", "genrsa", "-out", "sa.key", "2048"], cwd=folder)
    run(["openssl", "rsa", "-in", "sa.key", "-pubout", "-out", "sa.pub"], cwd=folder)
    authority = ["-subj", "/CN=cluster-ca", "-addext", "keyUsage=critical,keyCertSign,cRLSign"]
    _make_certificate(folder, "ca", authority)
    service = f"{SERVICES.rsplit('.', 1)[0]}.1"
    names = f"IP:127.0.0.1,IP:{ip},IP:{service},DNS:kubernetes.default.svc,DNS:localhost"
    _make_certificate(
        folder,
        "apiserver",
        ["-subj", "/CN=kube-apiserver", "-addext", f"subjectAltName={names}", *_signed("server")],
    )
    # The API server shows the kubelet this one; everyone else is asked who they are.
    client = ["-subj", "/O=system:masters/CN=kube-apiserver", *_signed("client")]
    _make_certificate(folder, "kubelet-client", client)


def _signed(use: str) -> list[str]:
    extensions = [*_LEAF, f"extendedKeyUsage={use}Auth"]
    added = [part for extension in extensions for part in ("-addext", extension)]
    return ["-CA", "ca.crt", "-CAkey", "ca.key", *added]


def _make_certificate(folder: Path, name: str, options: list[str]) -> None:
    made = ["-newkey", "rsa:2048", "-nodes", "-keyout", f"{name}.key", "-out", f"{name}.crt"]
    run(["openssl", "req", "-x509", *made, "-days", "365", *options], cwd=folder)


def _write_kubeconfig(place: Place, token: str) -> None:
    cluster = {
        "server": f"https://127.0.0.1:{API_PORT}",
        "certificate-authority": str(place.folder / "pki" / "ca.crt"),
    }
    content = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "sless", "cluster": cluster}],
        "users": [{"name": "admin", "user": {"token": token}}],
        "contexts": [{"name": "sless", "context": {"cluster": "sless", "user": "admin"}}],
        "current-context": "sless",
    }
    place.kubeconfig.write_text(json.dumps(content, indent=1))  # JSON is YAML
    place.kubeconfig.chmod(0o600)
