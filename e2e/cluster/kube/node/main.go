// Command node is what a real node needs of Kubernetes, in one program: kubelet and
// kube-proxy. It runs the part named by its own file name or its first argument.
package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/logs/json/register"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
	proxy "k8s.io/kubernetes/cmd/kube-proxy/app"
	kubelet "k8s.io/kubernetes/cmd/kubelet/app"
)

func main() {
	name := filepath.Base(os.Args[0])
	if name == "node" && len(os.Args) > 1 {
		os.Args = os.Args[1:]
		name = os.Args[0]
	}
	var part *cobra.Command
	switch name {
	case "kubelet":
		part = kubelet.NewKubeletCommand(context.Background())
	case "kube-proxy":
		part = proxy.NewProxyCommand()
	default:
		fmt.Fprintln(os.Stderr, "usage: node PART [ARGUMENT...], PART one of: kubelet, kube-proxy")
		os.Exit(2)
	}
	os.Exit(cli.Run(part))
}
