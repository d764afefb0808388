// Command kube is a whole Kubernetes control plane in one program. It runs the
// part named by its own file name or, failing that, by its first argument.
package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"go.etcd.io/etcd/server/v3/etcdmain"
	_ "k8s.io/client-go/plugin/pkg/client/auth"
	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/logs/json/register"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
	kubectl "k8s.io/kubectl/pkg/cmd"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllermanager "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
)

// A part runs with os.Args as if it were a program by itself and returns its exit code.
type part func() int

var parts = map[string]part{
	"etcd":                    func() int { etcdmain.Main(os.Args); return 0 },
	"keygen":                  keygen,
	"kube-apiserver":          command(apiserver.NewAPIServerCommand),
	"kube-controller-manager": command(controllermanager.NewControllerManagerCommand),
	"kube-scheduler":          command(func() *cobra.Command { return scheduler.NewSchedulerCommand() }),
	"kubectl":                 command(kubectl.NewDefaultKubectlCommand),
}

// The command is made late: making one reads flags and environment.
func command(build func() *cobra.Command) part {
	return func() int { return cli.Run(build()) }
}

func main() {
	run, ok := parts[filepath.Base(os.Args[0])]
	if !ok && len(os.Args) > 1 {
		os.Args = os.Args[1:]
		run, ok = parts[os.Args[0]]
	}
	if !ok {
		names := slices.Sorted(maps.Keys(parts))
		fmt.Fprintf(os.Stderr, "usage: kube PART [ARGUMENT...], PART one of: %s\n", strings.Join(names, " "))
		os.Exit(2)
	}
	os.Exit(run())
}
