//go:build tools

// This pins the controller that the end-to-end tests run; tests/e2e/install builds it.
package main

import _ "github.com/fluxcd/kustomize-controller"
