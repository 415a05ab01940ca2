package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/argoproj/argo-cd/v3/cmpserver/apiclient"
	"github.com/argoproj/argo-cd/v3/util/cmp"
)

// request is what the repo-server would ask of a plugin, Times times, and no more than AtOnce of them at a time.
type request struct {
	Socket, Repository, Path string
	Env                      map[string]string
	Seconds                  float64
	Times, AtOnce            int
}

// answer is what it would get.
type answer struct {
	Manifests []string `json:"manifests"`
	Error     string   `json:"error"`
}

var generate = &cobra.Command{
	Use:   "generate",
	Short: "Ask a plugin server for manifests: a request in JSON on stdin, a list of answers on stdout",
	RunE: func(*cobra.Command, []string) error {
		var r request
		if err := json.NewDecoder(os.Stdin).Decode(&r); err != nil {
			return err
		}
		answers := make([]answer, r.Times)
		var all sync.WaitGroup
		places := make(chan struct{}, r.AtOnce)
		for i := range answers {
			all.Add(1)
			places <- struct{}{}
			go func() {
				defer func() { <-places; all.Done() }()
				manifests, err := r.send()
				answers[i].Manifests = manifests
				if err != nil {
					answers[i].Error = err.Error()
				}
			}()
		}
		all.Wait()
		return json.NewEncoder(os.Stdout).Encode(answers)
	},
}

func (r request) send() ([]string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Duration(r.Seconds*float64(time.Second)))
	defer cancel()
	closer, client, err := apiclient.NewConfigManagementPluginClientSet(r.Socket).NewConfigManagementPluginClient()
	if err != nil {
		return nil, err
	}
	defer closer.Close()
	stream, err := client.GenerateManifest(ctx)
	if err != nil {
		return nil, err
	}
	var env []string
	for name, value := range r.Env {
		env = append(env, name+"="+value)
	}
	if err := cmp.SendRepoStream(ctx, filepath.Join(r.Repository, r.Path), r.Repository, stream, env, nil); err != nil {
		return nil, err
	}
	response, err := stream.CloseAndRecv()
	return response.GetManifests(), err
}

var announce = &cobra.Command{
	Use:   "announce",
	Short: "Ask a plugin server for the parameters that it announces: a request in JSON on stdin, JSON on stdout",
	RunE: func(command *cobra.Command, _ []string) error {
		var r request
		if err := json.NewDecoder(os.Stdin).Decode(&r); err != nil {
			return err
		}
		closer, client, err := apiclient.NewConfigManagementPluginClientSet(r.Socket).NewConfigManagementPluginClient()
		if err != nil {
			return err
		}
		defer closer.Close()
		stream, err := client.GetParametersAnnouncement(command.Context())
		if err != nil {
			return err
		}
		path := filepath.Join(r.Repository, r.Path)
		if err := cmp.SendRepoStream(command.Context(), path, r.Repository, stream, nil, nil); err != nil {
			return err
		}
		response, err := stream.CloseAndRecv()
		if err != nil {
			return err
		}
		return json.NewEncoder(os.Stdout).Encode(response.GetParameterAnnouncements())
	},
}
