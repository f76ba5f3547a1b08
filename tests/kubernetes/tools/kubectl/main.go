// SPDX-License-Identifier: Apache-2.0

// kubectl as Kubernetes has it, for the tests: ../../fetch-tools builds it, and gives it the version
// of the module.
package main

import (
	"k8s.io/component-base/cli"
	kubectl "k8s.io/kubectl/pkg/cmd"
	"k8s.io/kubectl/pkg/cmd/util"
)

func main() {
	// CheckErr prints the error in kubectl's form and ends the program with its exit code.
	util.CheckErr(cli.RunNoErrOutput(kubectl.NewDefaultKubectlCommand()))
}
