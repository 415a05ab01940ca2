package krusty

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"sigs.k8s.io/kustomize/api/resmap"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// A recording is a folder that a test has built, with the outcome. The test's files are beside it, in `files`.
type recording struct {
	// Path is the folder, below `files`.
	Path string
	// Unrestricted says whether the test has allowed files outside of the folder.
	Unrestricted bool
	// Plain is what `kustomize build` prints for the files, without plugins: "" where it fails.
	Plain string
	// Failure is why it fails.
	Failure string
	// Output is what the test has got, with its own options: in another order, with plugins; "" for an error.
	Output string
}

var counts = map[string]int{}

// Run takes the place of Kustomizer.Run in a copy of kustomize's API, where tests/e2e/install renames that to run. It
// keeps the files and the outcome of each call in $KRUSTY_RECORDINGS/TEST-NUMBER.
func (b *Kustomizer) Run(fSys filesys.FileSystem, path string) (resmap.ResMap, error) {
	root := rootOf(fSys, path)
	if root == "" { // a folder of kustomize's own
		return b.run(fSys, path)
	}
	test := caller()
	counts[test]++
	folder := filepath.Join(os.Getenv("KRUSTY_RECORDINGS"), fmt.Sprintf("%s-%d", test, counts[test]))
	files := filepath.Join(folder, "files")
	must(copied(fSys, root, files))
	below, err := filepath.Rel(root, filepath.Join("/", path))
	must(err)
	record := recording{Path: below, Unrestricted: b.options.LoadRestrictions != types.LoadRestrictionsRootOnly}

	plain := MakeDefaultOptions()
	plain.Reorder = ReorderOptionUnspecified
	plain.LoadRestrictions = b.options.LoadRestrictions
	built, err := MakeKustomizer(plain).run(filesys.MakeFsOnDisk(), filepath.Join(files, below))
	record.Plain, record.Failure = outcome(built, err)
	result, err := b.run(fSys, path)
	record.Output, _ = outcome(result, err)

	text, jsonErr := json.Marshal(record)
	must(jsonErr)
	must(os.WriteFile(filepath.Join(folder, "recording.json"), text, 0o600))
	return result, err
}

// outcome returns the output of a build, or why there is none.
func outcome(built resmap.ResMap, err error) (output, failure string) {
	var text []byte
	if err == nil {
		text, err = built.AsYaml()
	}
	if err != nil {
		return "", "Error: " + err.Error()
	}
	return string(text), ""
}

// caller returns the name of the test function.
func caller() string {
	frames := make([]uintptr, 64)
	walk := runtime.CallersFrames(frames[:runtime.Callers(2, frames)])
	for {
		frame, more := walk.Next()
		_, name, _ := strings.Cut(filepath.Base(frame.Function), ".")
		if strings.HasPrefix(name, "Test") {
			name, _, _ = strings.Cut(name, ".")
			return name
		}
		if !more {
			panic("no test calls this")
		}
	}
}

// rootOf returns the folder that holds all files of a test: / in memory, on disk the test's own in $TMPDIR.
func rootOf(fSys filesys.FileSystem, path string) string {
	if fmt.Sprintf("%T", fSys) == "*filesys.fsNode" {
		return "/"
	}
	below, err := filepath.Rel(os.TempDir(), path)
	if err != nil || strings.HasPrefix(below, "..") || !filepath.IsAbs(path) {
		return ""
	}
	first, _, _ := strings.Cut(below, "/")
	return filepath.Join(os.TempDir(), first)
}

// copied writes the files of a test to a folder, links as links.
func copied(fSys filesys.FileSystem, root, folder string) error {
	return fSys.Walk(root, func(path string, info os.FileInfo, err error) error {
		if err != nil {
			return err
		}
		below, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		to := filepath.Join(folder, below)
		if info.IsDir() {
			return os.MkdirAll(to, 0o700)
		}
		if info.Mode()&os.ModeSymlink != 0 {
			target, err := os.Readlink(path)
			if err != nil {
				return err
			}
			return os.Symlink(target, to)
		}
		text, err := fSys.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(to, text, 0o600)
	})
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
