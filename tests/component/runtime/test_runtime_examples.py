"""The examples do what their READMEs say."""

import httpx
import pytest

from tests.component.runtime.conftest import ROOT, Install, Prepare
from tests.component.runtime.function_process import FunctionProcess

pytestmark = pytest.mark.real

EXAMPLES = ROOT / "examples"

PNG = bytes.fromhex(  # 4 by 2 pixels, white
    "89504e470d0a1a0a0000000d4948445200000004000000020802000000f0caea340000000e494441"
    "54789c63f88f041890390036f117e92017c5c20000000049454e44ae426082"
)


@pytest.fixture(scope="module")
def run_example(run: Prepare, install: Install) -> "RunExample":
    return RunExample(run, install)


class RunExample:
    """Starts an example with the packages it asks for."""

    def __init__(self, run: Prepare, install: Install) -> None:
        self._run = run
        self._install = install

    def __call__(self, name: str) -> FunctionProcess:
        requirements = EXAMPLES / name / "requirements.txt"
        site = self._install("-r", str(requirements)) if requirements.exists() else None
        return self._run(EXAMPLES / name, site=site)


def test_every_example_is_explained() -> None:
    folders = [each for each in EXAMPLES.iterdir() if each.is_dir()]
    assert {each.name for each in folders} >= {"hello", "thumbnail", "fastapi-app", "any-server"}
    assert all((each / "README.md").is_file() for each in folders)


def test_hello(run_example: RunExample) -> None:
    url = run_example("hello").url
    assert httpx.get(url).json() == {"message": "Hello, world!"}
    assert httpx.get(url, params={"name": "you"}).json() == {"message": "Hello, you!"}


def test_any_server(run_example: RunExample) -> None:
    function = run_example("any-server")
    assert httpx.get(f"{function.url}/a").text == "Hello from a server of its own, at /a\n"
    function.terminate()
    assert function.wait().code == 0


def test_fastapi_app(run_example: RunExample) -> None:
    with httpx.Client(base_url=run_example("fastapi-app").url) as client:
        assert "/total" in client.get("/").json()["message"]
        order = {"lines": [{"article": "nut", "pieces": 3, "price": "0.20"}]}
        assert client.post("/total", json=order).json() == {"pieces": 3, "total": "0.60"}
        assert client.post("/total", json={"lines": []}).status_code == 422
        assert client.get("/openapi.json").json()["info"]["title"] == "Orders"


def test_thumbnail(run_example: RunExample) -> None:
    with httpx.Client(base_url=run_example("thumbnail").url, timeout=20) as client:
        assert "curl" in client.get("/").text
        small = client.post("/", params={"size": 2}, content=PNG)
        assert small.headers["content-type"] == "image/png"
        assert small.content[16:24] == bytes([0, 0, 0, 2, 0, 0, 0, 1])  # width, height
        assert client.post("/", content=b"no image").status_code == 415
        assert client.post("/", content=PNG[:40]).status_code == 415
        assert client.post("/", params={"size": "0"}, content=PNG).status_code == 400
