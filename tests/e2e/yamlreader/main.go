// Command yamlreader says what Kubernetes reads from a YAML document, for tests that hold our reader against it; with
// the argument kustomize, what kustomize reads and prints.
//
// stdin is frames: the length of a document on a line of its own, then that many bytes. For each frame stdout gets one
// line: "=" and the document as JSON (as sigs.k8s.io/yaml makes it, which kubectl and the API server use, or as kustomize
// makes it of a resource before it prints that), or "!" and why there is none.
package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/kio"
	"sigs.k8s.io/yaml"
)

func main() {
	read := yaml.YAMLToJSON
	if len(os.Args) > 1 && os.Args[1] == "kustomize" {
		read = printed
	}
	if err := serve(os.Stdin, os.Stdout, read); err != nil {
		fmt.Fprintln(os.Stderr, "yamlreader:", err)
		os.Exit(1)
	}
}

// printed reads a resource as kustomize does, and makes the JSON of it from which kustomize's output is made.
func printed(document []byte) ([]byte, error) {
	nodes, err := kio.FromBytes(document)
	if err != nil {
		return nil, err
	}
	if len(nodes) != 1 {
		return nil, fmt.Errorf("%d resources", len(nodes))
	}
	return nodes[0].MarshalJSON()
}

func serve(in io.Reader, out io.Writer, read func([]byte) ([]byte, error)) error {
	documents, answers := bufio.NewReader(in), bufio.NewWriter(out)
	for {
		length, err := documents.ReadString('\n')
		if err == io.EOF && length == "" {
			return answers.Flush()
		}
		if err != nil {
			return err
		}
		size, err := strconv.Atoi(strings.TrimSpace(length))
		if err != nil || size < 0 {
			return fmt.Errorf("%q is no length of a document", length)
		}
		document := make([]byte, size)
		if _, err := io.ReadFull(documents, document); err != nil {
			return err
		}
		if _, err := fmt.Fprintln(answers, answer(document, read)); err != nil {
			return err
		}
		if documents.Buffered() == 0 {
			if err := answers.Flush(); err != nil {
				return err
			}
		}
	}
}

func answer(document []byte, read func([]byte) ([]byte, error)) (line string) {
	defer func() {
		if failure := recover(); failure != nil {
			line = "!" + strings.ReplaceAll(fmt.Sprint("panic: ", failure), "\n", " ")
		}
	}()
	text, err := read(document)
	if err != nil {
		return "!" + strings.ReplaceAll(err.Error(), "\n", " ")
	}
	return "=" + string(text)
}
