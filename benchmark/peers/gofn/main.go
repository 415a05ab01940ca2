// The peer on the Go SDK of kpt: read a ResourceList, set one annotation on our DeviceConfigs, write it.
package main

import (
	"os"
	"strings"

	"github.com/kptdev/krm-functions-sdk/go/fn"
)

func touch(list *fn.ResourceList) (bool, error) {
	for _, item := range list.Items {
		if item.GetKind() != "DeviceConfig" || !strings.HasPrefix(item.GetAPIVersion(), "krmfn.dev/") {
			continue
		}
		if err := item.SetAnnotation("benchmark.example.com/touched", "yes"); err != nil {
			return false, err
		}
	}
	return true, nil
}

func pass(*fn.ResourceList) (bool, error) { return true, nil }

func main() {
	processor := fn.ResourceListProcessorFunc(touch)
	if len(os.Args) > 1 && os.Args[1] == "pass" {
		processor = pass
	}
	if err := fn.AsMain(processor); err != nil {
		os.Exit(1)
	}
}
