package main

import (
	"encoding/json"
	"errors"
	"io"
	"os"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/argoproj/argo-cd/v3/util/lua"
)

var health = &cobra.Command{
	Use:   "health",
	Short: "Judge objects with health scripts as the application controller does: JSON documents in, one line each out",
	RunE: func(*cobra.Command, []string) error {
		in, out := json.NewDecoder(os.Stdin), json.NewEncoder(os.Stdout)
		for {
			var question struct {
				Script string
				Object unstructured.Unstructured
			}
			if err := in.Decode(&question); errors.Is(err, io.EOF) {
				return nil
			} else if err != nil {
				return err
			}
			// UseOpenLibs stays false, as for every script of argocd-cm.
			status, err := lua.VM{}.ExecuteHealthLua(&question.Object, question.Script)
			if err != nil {
				return err
			}
			if err := out.Encode(status); err != nil {
				return err
			}
		}
	},
}
