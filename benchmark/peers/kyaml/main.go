// The peer on kyaml's fn framework: read a ResourceList, set one annotation on our DeviceConfigs, write it.
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

func pass(*framework.ResourceList) error { return nil }

func main() {
	processor := framework.ResourceListProcessorFunc(touch)
	if len(os.Args) > 1 && os.Args[1] == "pass" {
		processor = pass
	}
	if err := framework.Execute(processor, nil); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
