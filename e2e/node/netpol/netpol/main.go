// Command netpol is Kubernetes' own suite of network policies, and nothing else of its tests.
//
//	netpol image        prints the image that its Pods run
//	netpol list         prints the full name of each case
//	netpol [FLAG...]    runs them, with the flags of Kubernetes' end-to-end tests
package main

import (
	"flag"
	"fmt"
	"os"

	"github.com/onsi/ginkgo/v2"
	"github.com/onsi/gomega"
	"k8s.io/kubernetes/test/e2e/framework"
	"k8s.io/kubernetes/test/e2e/framework/config"
	_ "k8s.io/kubernetes/test/e2e/network/netpol"
	"k8s.io/kubernetes/test/utils/image"
)

func main() {
	order := ""
	if len(os.Args) > 1 {
		order = os.Args[1]
	}
	switch order {
	case "image":
		fmt.Println(image.GetE2EImage(image.Agnhost))
	case "list":
		list()
	default:
		os.Exit(run())
	}
}

func list() {
	for _, spec := range ginkgo.PreviewSpecs("netpol").SpecReports {
		fmt.Println(spec.FullText())
	}
}

func run() int {
	config.CopyFlags(config.Flags, flag.CommandLine)
	framework.RegisterCommonFlags(flag.CommandLine)
	framework.RegisterClusterFlags(flag.CommandLine)
	flag.Parse()
	framework.AfterReadingAllFlags(&framework.TestContext)
	gomega.RegisterFailHandler(framework.Fail)
	suite, reporter := framework.CreateGinkgoConfig()
	if ginkgo.RunSpecs(outcome{}, "netpol", suite, reporter) {
		return 0
	}
	return 1
}

// What RunSpecs tells of a failure it returns, too.
type outcome struct{}

func (outcome) Fail() {}
