// Command readers says what the programs behind krmfn make of an input, for the fuzzer in tests/fuzz.
//
// stdin is questions, each a line `KIND LENGTH` and that many bytes; stdout gets a line for each: an Answer as JSON.
//
//	stream: the bytes of a stream of manifests
//	folder: the path of a folder with a kustomization
//
// Nothing of what an input asks for is done: functions are given back what they are given (see exec.go.txt), no HTTP
// request leaves, and `git`, the only other program that kustomize looks up, is whatever the caller has put on PATH.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"os"
)

// Answer is what a question gets; each kind fills what it has.
type Answer struct {
	// Kubernetes and Kyaml are a stream as the decoder of kubectl and Argo CD reads it, and as kustomize does.
	Kubernetes *Reading `json:"kubernetes,omitempty"`
	Kyaml      *Reading `json:"kyaml,omitempty"`
	// Built is what kustomize builds of a folder, Text the same as it prints it.
	Built *Reading `json:"built,omitempty"`
	Text  string   `json:"text,omitempty"`
	// Files are the paths, without links, of the files whose content was read.
	Files []string `json:"files,omitempty"`
	// Started are the commands that functions would have been, Fetched the URLs that were asked for.
	Started [][]string `json:"started,omitempty"`
	Fetched []string   `json:"fetched,omitempty"`
}

// Reading is objects in order, or why there are none.
type Reading struct {
	Objects []json.RawMessage `json:"objects"`
	Error   string            `json:"error,omitempty"`
}

func main() {
	answers := os.Stdout
	os.Stdout = os.Stderr // for whatever kustomize prints
	log.SetOutput(io.Discard)
	if err := serve(os.Stdin, answers); err != nil {
		fmt.Fprintln(os.Stderr, "readers:", err)
		os.Exit(1)
	}
}

func serve(in io.Reader, out io.Writer) error {
	questions, answers := bufio.NewReader(in), json.NewEncoder(out)
	answers.SetEscapeHTML(false)
	for {
		var kind string
		var size int
		line, err := questions.ReadString('\n')
		if err == io.EOF && line == "" {
			return nil
		}
		if _, err := fmt.Sscanf(line, "%s %d", &kind, &size); err != nil {
			return fmt.Errorf("%q is no question: %w", line, err)
		}
		text := make([]byte, size)
		if _, err := io.ReadFull(questions, text); err != nil {
			return err
		}
		var answer Answer
		switch kind {
		case "stream":
			answer = Answer{Kubernetes: read(text, kubernetes), Kyaml: read(text, kyaml)}
		case "folder":
			answer = folder(string(text))
		default:
			return fmt.Errorf("%q is no kind of question", kind)
		}
		if err := answers.Encode(answer); err != nil {
			return err
		}
	}
}

// read returns what a reader makes of something; a panic of it is an error as any other.
func read[In any](in In, reader func(In) ([]json.RawMessage, error)) (out *Reading) {
	out = &Reading{}
	defer func() {
		if failure := recover(); failure != nil {
			out.Objects, out.Error = nil, fmt.Sprint("panic: ", failure)
		}
	}()
	objects, err := reader(in)
	if err != nil {
		out.Error = err.Error()
		return out
	}
	out.Objects = objects
	return out
}
