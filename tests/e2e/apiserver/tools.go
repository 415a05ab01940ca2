//go:build tools

// Package apiserver pins the programs that the end-to-end tests run as a cluster; tests/e2e/install builds them.
package apiserver

import (
	_ "k8s.io/kubernetes/cmd/kube-apiserver"
	_ "k8s.io/kubernetes/cmd/kube-controller-manager"
	_ "k8s.io/kubernetes/cmd/kubectl"
)
