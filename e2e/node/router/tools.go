//go:build tools

// Package router names what this module is for: kube-router, which needs Kubernetes
// modules of another age than the cluster's.
package router

import _ "github.com/cloudnativelabs/kube-router/v2/cmd/kube-router"
