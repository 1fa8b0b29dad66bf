"""The packages that an image of a Python function brings along for its launcher."""

from sless.adapters.runtime_site import LAUNCHER_PACKAGES, read_launcher_site


def test_an_image_gets_every_package_and_no_machine_code() -> None:
    files = read_launcher_site()
    for name in LAUNCHER_PACKAGES:
        assert f"{name}/__init__.py" in files
    assert list(files) == sorted(files)
    assert not [path for path in files if path.endswith((".so", ".pyc"))]
