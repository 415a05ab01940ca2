"""What a vendor says of configs beside their fields: what is refused, deprecated, cluster-wide, printed as a text."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
import yaml
from krmfn_functions.profile import refusals, structural

from krmfn import Manifest

from .vendor import rendered

PROFILE = """\
apiVersion: krmfn.dev/v1alpha1
kind: Profile
metadata: {name: acme}
spec:
  version: 1.0.0
  for: {group: acme.example.com, versions: [v1], kind: AcmeDevice}
  schema:
    type: object
    properties:
      spec:
        type: object
        properties:
          plugin: {type: boolean, default: true}
          dra: {type: boolean, default: false}
          old: {type: string}
          share: {type: number}
          conf:
            type: object
            properties:
              a-b: {type: integer}
              word: {type: string}
              list: {type: array, items: {type: boolean}}
          labels: {type: object, additionalProperties: {type: string}}
  refuse:
  - if: {spec.plugin: true, spec.dra: true}
    message: the device plugin and DRA exclude each other
  - if: {spec.share: [1, 2.5], spec.conf.a-b: {exists: true}}
    message: never both
  - if: {"spec.labels['x/y']": z}
    message: not this label
  deprecated: {spec.old: write spec.conf}
  ignored: {spec.old: it has no effect any more}
  texts:
    conf: {json: spec.conf}
    lines: {yaml: spec.conf}
  config:
    moduleName: acme
    nodeSelector: {acme: "true"}
    driverImage: registry.example.com/acme:1-$KERNEL_FULL_VERSION
    extraObjects:
    - apiVersion: v1
      kind: ConfigMap
      metadata: {name: conf}
      data: {a.json: "${texts.conf}", a.yaml: "${texts.lines}"}
"""
CR: Manifest = {
    "apiVersion": "acme.example.com/v1",
    "kind": "AcmeDevice",
    "metadata": {"name": "a", "namespace": "kmm"},
}


def profile(**fields: Any) -> Any:
    product = yaml.safe_load(PROFILE)
    product["spec"] |= fields
    return product


def config(**spec: Any) -> Any:
    return {**copy.deepcopy(CR), "spec": spec}


@pytest.mark.parametrize(
    ("spec", "field", "words"),
    [
        ({"dra": True}, "spec.dra", "the device plugin and DRA exclude each other [KRM193]"),
        ({"dra": True, "plugin": False}, "", ""),
        ({"share": 1, "conf": {"a-b": 1}}, "spec.share", "never both"),
        ({"share": 2.5, "conf": {"a-b": 0}}, "spec.share", "never both"),
        ({"share": 2, "conf": {"a-b": 1}}, "", ""),
        ({"share": 1, "conf": {}}, "", ""),
        ({"labels": {"x/y": "z"}}, "spec.labels[x/y]", "not this label"),
    ],
)
def test_a_config_is_refused_with_the_vendor_s_words(spec: Any, field: str, words: str) -> None:
    """Conditions look at options with their defaults, as those of `when` do."""
    objects, findings, failed = rendered(profile(), config(**spec))
    assert bool(failed) == bool(words), findings
    assert ("Module a" in objects) != bool(words)
    assert [line for line in findings if words in line and f" {field}: " in line] == findings, findings
    assert len(findings) == bool(words)


def test_a_deprecated_option_still_counts() -> None:
    objects, findings, failed = rendered(profile(), config(old="x"))
    assert findings == ["warning: AcmeDevice kmm/a: spec.old: write spec.conf [KRM194]"]
    assert "Module a" in objects
    assert not failed


def test_an_option_is_printed_with_its_types() -> None:
    conf = {"word": "$KRMFN_NAME yes", "list": [True], "a-b": 5}
    objects, findings, _ = rendered(profile(), config(conf=conf))
    data = objects["ConfigMap conf"]["data"]
    assert json.loads(data["a.json"]) == conf == yaml.safe_load(data["a.yaml"])
    assert findings == []
    objects, _, _ = rendered(profile(), config())
    assert "ConfigMap conf" not in objects or not objects["ConfigMap conf"].get("data")


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        (
            {"refuse": [{"if": {"spec.plugn": True}, "message": "m"}]},
            "spec.refuse[0].if[spec.plugn]: the schema has no",
        ),
        ({"refuse": [{"if": {"spec.plugin": "x"}, "message": "m"}]}, "never holds: spec.plugin cannot be"),
        ({"refuse": [{"if": {"spec.dra": {"exists": True}}, "message": "m"}]}, "cannot tell a default from"),
        ({"refuse": [{"if": {"metadata.namespace": "x"}, "message": "m"}]}, "see no namespace"),
        (
            {"deprecated": {"spec.odl": "m"}},
            "spec.deprecated[spec.odl]: the schema has no spec.odl; did you mean 'old'",
        ),
        ({"texts": {"conf": {"json": "spec.cnf"}, "lines": {"yaml": "spec.conf"}}}, "did you mean 'conf'"),
        ({"texts": {"conf": {"json": "spec.conf", "as": "x"}, "lines": {"yaml": "spec.conf"}}}, "write one of `as`"),
        (
            {"texts": {"conf": {"json": "spec.conf", "quote": "sh"}, "lines": {"yaml": "spec.conf"}}},
            "spec.texts.conf.quote: has no effect beside `json`",
        ),
    ],
)
def test_a_wrong_word_is_an_error_of_the_profile(fields: Any, words: str) -> None:
    _, findings, failed = rendered(profile(**fields), config())
    assert failed
    assert any(words in line and line.startswith("error: Profile acme") for line in findings), findings


def test_a_text_that_may_be_absent_is_all_of_a_field() -> None:
    product = profile()
    product["spec"]["config"]["extraObjects"][0]["data"]["a.json"] = "x ${texts.conf}"
    assert any("may be absent, since spec.conf may be" in line for line in rendered(product, config())[1])


def test_what_a_cluster_wide_config_makes_is_in_one_namespace() -> None:
    product, cr = profile(), config()
    product["spec"]["for"] |= {"scope": "Cluster", "namespace": "vendor"}
    del cr["metadata"]["namespace"]
    objects, findings, _ = rendered(product, cr, namespace="elsewhere")
    assert {objects[name]["metadata"]["namespace"] for name in ("Module a", "ConfigMap conf")} == {"vendor"}
    assert findings == []
    findings = rendered(product, config())[1]
    assert any("metadata.namespace: has no effect: AcmeDevice is cluster-wide" in line for line in findings), findings


@pytest.mark.parametrize(
    ("target", "words"),
    [
        ({"scope": "Cluster"}, "spec.for.namespace: is missing"),
        ({"namespace": "x"}, "spec.for.namespace: has no effect"),
        ({"scope": "Global"}, "spec.for.scope"),
    ],
)
def test_a_scope_goes_with_a_namespace(target: Any, words: str) -> None:
    product = profile()
    product["spec"]["for"] |= target
    assert any(words in line for line in rendered(product, config())[1])


def test_what_is_refused_as_rules_of_a_crd() -> None:
    spec = profile()["spec"]
    conf = "has(self.spec) && has(self.spec.conf) && has(self.spec.conf.a__dash__b)"
    assert [entry["rule"] for entry in refusals.validations(spec, spec["schema"])] == [
        "!(has(self.spec) && has(self.spec.plugin) && (self.spec.plugin == true)"
        " && has(self.spec) && has(self.spec.dra) && (self.spec.dra == true))",
        f"!(has(self.spec) && has(self.spec.share) && (self.spec.share == 1.0 || self.spec.share == 2.5) && {conf})",
        '!(has(self.spec) && has(self.spec.labels) && "x/y" in self.spec.labels && (self.spec.labels["x/y"] == "z"))',
    ]


@pytest.mark.parametrize("number", ["nan", "inf", "-inf"])
def test_a_number_that_no_json_holds_is_none_of_an_option(number: str) -> None:
    assert not structural.may_be({"type": "number"}, float(number))
