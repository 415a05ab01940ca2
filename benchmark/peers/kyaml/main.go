// The peer on kyaml's fn framework: read a ResourceList, set one annotation on our DeviceConfigs, or the labels of the
// functionConfig on Deployments, write it.
package main

import (
	"fmt"
	"os"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/fn/framework"
	"sigs.k8s.io/kustomize/kyaml/yaml"
)

func touch(list *framework.ResourceList) error {
	for _, item := range list.Items {
		if item.GetKind() != "DeviceConfig" || !strings.HasPrefix(item.GetApiVersion(), "krmfn.dev/") {
			continue
		}
		if err := item.PipeE(yaml.SetAnnotation("benchmark.example.com/touched", "yes")); err != nil {
			return err
		}
	}
	return nil
}

// labelled are the mappings of a Deployment that get a label: examples/catalog/set-labels has the same.
var labelled = [][]string{
	{"metadata", "labels"},
	{"spec", "selector", "matchLabels"},
	{"spec", "template", "metadata", "labels"},
}

func label(list *framework.ResourceList) error {
	labels := list.FunctionConfig.GetDataMap()
	for _, item := range list.Items {
		if item.GetKind() != "Deployment" {
			continue
		}
		for _, path := range labelled {
			mapping, err := item.Pipe(yaml.LookupCreate(yaml.MappingNode, path...))
			if err != nil {
				return err
			}
			for name, value := range labels {
				if err := mapping.PipeE(yaml.SetField(name, yaml.NewStringRNode(value))); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func pass(*framework.ResourceList) error { return nil }

func main() {
	processor := framework.ResourceListProcessorFunc(touch)
	if len(os.Args) > 1 {
		processor = map[string]framework.ResourceListProcessorFunc{"touch": touch, "label": label, "pass": pass}[os.Args[1]]
	}
	if err := framework.Execute(processor, nil); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
