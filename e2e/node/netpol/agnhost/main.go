// Command agnhost is the part of Kubernetes' test image of that name that its suite of network
// policies calls: who serves, and who connects.
package main

import (
	"os"

	"github.com/spf13/cobra"
	"k8s.io/component-base/cli"
	"k8s.io/kubernetes/test/images/agnhost/connect"
	"k8s.io/kubernetes/test/images/agnhost/porter"
)

func main() {
	root := &cobra.Command{Use: "agnhost"}
	root.AddCommand(connect.CmdConnect, porter.CmdPorter)
	os.Exit(cli.Run(root))
}
