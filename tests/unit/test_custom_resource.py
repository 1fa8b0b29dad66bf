"""The schema of the custom resource says what `sless.manifests` checks, word for word."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from sless import naming
from sless.manifests import API_VERSION, KIND, check
from sless.model.phase import Phase

CRDS = Path(__file__).parents[2] / "k8s" / "chart" / "crds"

Schema = dict[str, Any]


@pytest.fixture(scope="module")
def resource() -> Schema:
    found: Schema = yaml.safe_load((CRDS / "functions.yaml").read_text())
    return found


@pytest.fixture(scope="module")
def schema(resource: Schema) -> Schema:
    found: Schema = resource["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    return found


def fields(schema: Schema) -> Schema:
    found: Schema = schema["properties"]["spec"]["properties"]
    return found


def whole(pattern: re.Pattern[str]) -> str:
    """As RE2 has it, which matches anywhere unless told: no names of groups."""
    return f"^({re.sub(r'[?]P<[a-z0-9]+>', '', pattern.pattern)})$"


def test_it_is_the_kind_that_manifests_name(resource: Schema) -> None:
    spec = resource["spec"]
    assert f"{spec['group']}/{spec['versions'][0]['name']}" == API_VERSION
    assert spec["names"]["kind"] == KIND


def test_a_table_begins_with_how_it_is_and_ends_with_what_is_long(resource: Schema) -> None:
    columns = resource["spec"]["versions"][0]["additionalPrinterColumns"]
    names = [column["name"] for column in columns if not column.get("priority")]
    assert names == ["Phase", "Reason", "Runtime", "Age", "URL", "Image"]


def test_its_fields_are_those_that_are_checked(schema: Schema) -> None:
    assert tuple(fields(schema)) == check.FIELDS
    assert schema["properties"]["spec"]["required"] == ["s3Key", "runtime"]


def test_its_patterns_are_those_that_are_checked(schema: Schema) -> None:
    found = fields(schema)
    assert found["s3Key"]["pattern"] == whole(naming._KEY)
    assert found["runtime"]["pattern"] == whole(naming._RUNTIME)
    assert found["handler"]["pattern"] == whole(check._HANDLER)
    assert found["request"]["pattern"] == whole(check._REQUEST)
    assert found["env"]["items"]["properties"]["name"]["pattern"] == whole(check._ENV_NAME)


def test_its_bounds_are_those_that_are_checked(schema: Schema) -> None:
    found = fields(schema)
    variable = found["env"]["items"]["properties"]
    assert found["runtime"]["maxLength"] == naming.NAME_MAX
    assert found["handler"]["maxLength"] == check.HANDLER_MAX
    assert found["request"]["maxLength"] == check.REQUEST_MAX
    assert found["command"]["maxItems"] == check.COMMAND_WORDS_MAX
    assert found["env"]["maxItems"] == check.ENV_MAX
    assert variable["name"]["maxLength"] == check.ENV_NAME_MAX
    for text in (found["command"]["items"], variable["value"]):
        assert text["maxLength"] == check.TEXT_MAX
        assert f"<= {check.TEXT_MAX}" in text["x-kubernetes-validations"][0]["rule"]


def test_its_rules_name_the_numbers_that_are_checked(schema: Schema) -> None:
    rules = [rule["rule"] for rule in schema["properties"]["spec"]["x-kubernetes-validations"]]
    assert any(rule.endswith(f"<= {check.SPEC_MAX}") for rule in rules)
    name = schema["x-kubernetes-validations"][0]["rule"]
    assert name.startswith(f"size(self.metadata.name) <= {naming.NAME_MAX} ")


def test_the_longest_key_fits(schema: Schema) -> None:
    longest = naming.S3Key(
        namespace="n" * naming.NAMESPACE_MAX,
        name="n" * naming.NAME_MAX,
        sha256="0" * 64,
        runtime="a" * (naming.NAME_MAX - 1) + "1",
        rebuild=999_999_999,
    )
    assert len(str(longest)) <= fields(schema)["s3Key"]["maxLength"]


def test_it_tells_every_phase(schema: Schema) -> None:
    told = schema["properties"]["status"]["properties"]["phase"]["description"]
    assert set(re.findall(r"[A-Z][a-z]+", told)) == {phase.value for phase in Phase}
