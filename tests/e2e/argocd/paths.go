package main

import (
	"encoding/json"
	"errors"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/argoproj/argo-cd/v3/pkg/apis/application/v1alpha1"
	apppath "github.com/argoproj/argo-cd/v3/util/app/path"
)

var changed = &cobra.Command{
	Use:   "changed",
	Short: "Say whether an Application is rendered anew after a change of a file: JSON documents in, one line each out",
	RunE: func(*cobra.Command, []string) error {
		in, out := json.NewDecoder(os.Stdin), json.NewEncoder(os.Stdout)
		for {
			var question struct{ Paths, Source, File string }
			if err := in.Decode(&question); errors.Is(err, io.EOF) {
				return nil
			} else if err != nil {
				return err
			}
			app := v1alpha1.Application{}
			app.Annotations = map[string]string{v1alpha1.AnnotationKeyManifestGeneratePaths: question.Paths}
			app.Spec.Source = &v1alpha1.ApplicationSource{Path: question.Source}
			answer := apppath.AppFilesHaveChanged(apppath.GetAppRefreshPaths(&app), []string{question.File})
			if err := out.Encode(answer); err != nil {
				return err
			}
		}
	},
}
