// Command yamlreader says what Kubernetes reads from a YAML document, for tests that hold our reader against it.
//
// stdin is frames: the length of a document on a line of its own, then that many bytes. For each frame stdout gets one
// line: "=" and the document as JSON (as sigs.k8s.io/yaml makes it, which kubectl and the API server use), or "!" and
// why there is none.
package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"sigs.k8s.io/yaml"
)

func main() {
	if err := serve(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "yamlreader:", err)
		os.Exit(1)
	}
}

func serve(in io.Reader, out io.Writer) error {
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
		if _, err := fmt.Fprintln(answers, answer(document)); err != nil {
			return err
		}
		if documents.Buffered() == 0 {
			if err := answers.Flush(); err != nil {
				return err
			}
		}
	}
}

func answer(document []byte) (line string) {
	defer func() {
		if failure := recover(); failure != nil {
			line = "!" + strings.ReplaceAll(fmt.Sprint("panic: ", failure), "\n", " ")
		}
	}()
	text, err := yaml.YAMLToJSON(document)
	if err != nil {
		return "!" + strings.ReplaceAll(err.Error(), "\n", " ")
	}
	return "=" + string(text)
}
