package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"

	"k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/kustomize/kyaml/kio"
)

// kubernetes reads a stream as kubectl (cli-runtime's StreamVisitor) and Argo CD (gitops-engine's SplitYAML) do.
func kubernetes(stream []byte) ([]json.RawMessage, error) {
	decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(stream), 4096)
	objects := []json.RawMessage{}
	for {
		var object json.RawMessage
		if err := decoder.Decode(&object); errors.Is(err, io.EOF) {
			return objects, nil
		} else if err != nil {
			return nil, err
		}
		object = bytes.TrimSpace(object)
		if len(object) > 0 && !bytes.Equal(object, []byte("null")) {
			objects = append(objects, object)
		}
	}
}

// kyaml reads a stream as kustomize reads its resources and functions.
func kyaml(stream []byte) ([]json.RawMessage, error) {
	nodes, err := kio.FromBytes(stream)
	if err != nil {
		return nil, err
	}
	objects := []json.RawMessage{}
	for _, node := range nodes {
		if node.IsNilOrEmpty() {
			continue
		}
		object, err := node.MarshalJSON()
		if err != nil {
			return nil, err
		}
		objects = append(objects, object)
	}
	return objects, nil
}
