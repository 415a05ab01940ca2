// fluxlib asks Flux's own libraries what kustomize-controller would do with a folder or with objects, without a cluster.
//
//	fluxlib build ROOT FOLDER lenient|strict < Kustomization as JSON   prints what would be applied, as YAML
//	fluxlib sort < a JSON list of objects                              prints {"apply": [...], "delete": [...]}
//	fluxlib health < {"checks": [...], "objects": [...]}               prints a JSON list of statuses
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"sort"

	flux "github.com/fluxcd/pkg/apis/kustomize"
	"github.com/fluxcd/pkg/kustomize"
	"github.com/fluxcd/pkg/runtime/cel"
	"github.com/fluxcd/pkg/ssa"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(args []string) error {
	switch {
	case len(args) == 4 && args[0] == "build":
		return build(args[1], args[2], args[3] == "strict")
	case len(args) == 1 && args[0] == "sort":
		return order()
	case len(args) == 1 && args[0] == "health":
		return health()
	}
	return fmt.Errorf("usage: fluxlib build ROOT FOLDER lenient|strict, fluxlib sort, fluxlib health")
}

// build does what kustomize-controller does with an artifact that is unpacked in root: it writes into the folder.
func build(root, folder string, strict bool) error {
	var kustomization unstructured.Unstructured
	if err := json.NewDecoder(os.Stdin).Decode(&kustomization); err != nil {
		return err
	}
	if _, err := kustomize.NewGenerator(root, kustomization).WriteFile(folder); err != nil {
		return err
	}
	built, err := kustomize.SecureBuild(root, folder, true)
	if err != nil {
		return fmt.Errorf("kustomize build failed: %w", err)
	}
	_, substitutes, err := unstructured.NestedMap(kustomization.Object, "spec", "postBuild")
	if err != nil {
		return err
	}
	for _, resource := range built.Resources() {
		if !substitutes {
			break
		}
		replaced, err := kustomize.SubstituteVariables(
			context.Background(), nil, kustomization, resource, kustomize.SubstituteWithStrict(strict))
		if err != nil {
			return fmt.Errorf("post build failed for '%s/%s': %w", resource.GetGvk(), resource.GetName(), err)
		}
		if replaced != nil {
			if _, err := built.Replace(resource); err != nil {
				return err
			}
		}
	}
	text, err := built.AsYaml()
	if err != nil {
		return err
	}
	_, err = os.Stdout.Write(text)
	return err
}

// objects reads integers as int64, as a client of the API server does.
func objects(raw []json.RawMessage) ([]*unstructured.Unstructured, error) {
	var read []*unstructured.Unstructured
	for _, text := range raw {
		one := &unstructured.Unstructured{}
		if err := one.UnmarshalJSON(bytes.TrimSpace(text)); err != nil {
			return nil, err
		}
		read = append(read, one)
	}
	return read, nil
}

func order() error {
	var raw []json.RawMessage
	if err := json.NewDecoder(os.Stdin).Decode(&raw); err != nil {
		return err
	}
	list, err := objects(raw)
	if err != nil {
		return err
	}
	names := func() []string {
		var result []string
		for _, one := range list {
			result = append(result, one.GetKind()+"/"+one.GetName())
		}
		return result
	}
	sort.Sort(ssa.SortableUnstructureds(list))
	apply := names()
	sort.Sort(sort.Reverse(ssa.SortableUnstructureds(list)))
	return json.NewEncoder(os.Stdout).Encode(map[string][]string{"apply": apply, "delete": names()})
}

// health prints for each object its status, "Unknown: <error>" where an expression fails, and "none" without a check.
func health() error {
	var question struct {
		Checks  []flux.CustomHealthCheck `json:"checks"`
		Objects []json.RawMessage        `json:"objects"`
	}
	if err := json.NewDecoder(os.Stdin).Decode(&question); err != nil {
		return err
	}
	list, err := objects(question.Objects)
	if err != nil {
		return err
	}
	answers := []string{}
	for _, object := range list {
		answer := "none"
		for _, check := range question.Checks {
			if check.Kind != object.GetKind() || check.APIVersion != object.GetAPIVersion() {
				continue
			}
			evaluator, err := cel.NewStatusEvaluator(&check.HealthCheckExpressions)
			if err != nil {
				return err
			}
			if result, err := evaluator.Evaluate(context.Background(), object); err != nil {
				answer = "Unknown: " + err.Error()
			} else {
				answer = string(result.Status)
			}
		}
		answers = append(answers, answer)
	}
	return json.NewEncoder(os.Stdout).Encode(answers)
}
