// Argo CD's servers as its own main.go starts them, without its command line and its web page, and what the
// end-to-end tests ask of its libraries: the client of the plugin server, the evaluator of health scripts, and which
// changes of files count for an Application.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"k8s.io/klog/v2"

	controller "github.com/argoproj/argo-cd/v3/cmd/argocd-application-controller/commands"
	sets "github.com/argoproj/argo-cd/v3/cmd/argocd-applicationset-controller/commands"
	cmpserver "github.com/argoproj/argo-cd/v3/cmd/argocd-cmp-server/commands"
	commitserver "github.com/argoproj/argo-cd/v3/cmd/argocd-commit-server/commands"
	reposerver "github.com/argoproj/argo-cd/v3/cmd/argocd-repo-server/commands"
	"github.com/argoproj/argo-cd/v3/util/log"
)

func main() {
	klog.SetLogger(log.NewLogrusLogger(log.NewWithCurrentConfig()))
	root := &cobra.Command{Use: "argocd", SilenceUsage: true}
	// Each of the five names itself as the program that it is in Argo CD's own image.
	root.AddCommand(controller.NewCommand(), sets.NewCommand(), reposerver.NewCommand(), commitserver.NewCommand())
	root.AddCommand(cmpserver.NewCommand(), generate, announce, health, changed)
	// In Argo CD's image a server is a link to its one program, which goes by the link's name.
	if name := filepath.Base(os.Args[0]); name == "argocd-cmp-server" {
		root.SetArgs(append([]string{name}, os.Args[1:]...))
	}
	if err := root.Execute(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
