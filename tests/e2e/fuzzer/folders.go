package main

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"path/filepath"
	"slices"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/kustomize/kyaml/fn/runtime/exec"
)

// folder builds a folder as `kustomize build --enable-alpha-plugins --enable-exec` does.
func folder(path string) Answer {
	answer := Answer{}
	http.DefaultTransport = refusing(func(url string) { answer.Fetched = append(answer.Fetched, url) })
	exec.Start = func(command []string, in io.Reader, out io.Writer) error {
		answer.Started = append(answer.Started, command)
		_, err := io.Copy(out, in)
		return err
	}
	files := &recording{filesys.MakeFsOnDisk(), &answer.Files}
	answer.Built = read(path, func(path string) ([]json.RawMessage, error) {
		resources, err := krusty.MakeKustomizer(options()).Run(files, path)
		if err != nil {
			return nil, err
		}
		text, err := resources.AsYaml()
		if err != nil {
			return nil, err
		}
		answer.Text = string(text)
		objects := []json.RawMessage{}
		for _, resource := range resources.Resources() {
			object, err := resource.MarshalJSON()
			if err != nil {
				return nil, err
			}
			objects = append(objects, object)
		}
		return objects, nil
	})
	return answer
}

func options() *krusty.Options {
	options := krusty.MakeDefaultOptions()
	options.PluginConfig = types.EnabledPluginConfig(types.BploUseStaticallyLinked)
	options.PluginConfig.HelmConfig.Enabled = false
	options.PluginConfig.FnpLoadingOptions.EnableExec = true
	return options
}

// recording notes the files whose content is read.
type recording struct {
	filesys.FileSystem
	files *[]string
}

func (r *recording) ReadFile(path string) ([]byte, error) {
	text, err := r.FileSystem.ReadFile(path)
	r.note(path, err)
	return text, err
}

func (r *recording) Open(path string) (filesys.File, error) {
	file, err := r.FileSystem.Open(path)
	r.note(path, err)
	return file, err
}

func (r *recording) note(path string, err error) {
	if real, failure := filepath.EvalSymlinks(path); err == nil && failure == nil && !slices.Contains(*r.files, real) {
		*r.files = append(*r.files, real)
	}
}

// refusing is an HTTP transport that notes what it is asked for, and answers nothing.
type refusing func(url string)

func (note refusing) RoundTrip(request *http.Request) (*http.Response, error) {
	note(request.URL.String())
	return nil, errors.New("nothing is fetched here")
}
