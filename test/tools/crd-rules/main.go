// Says what the API server of the oldest Kubernetes that we support finds wrong with CustomResourceDefinitions, by its own code:
// their structure, the functions of their rules, and what the rules may cost together. Each argument is a file with one.
package main

import (
	"context"
	"fmt"
	"os"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	v1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	"sigs.k8s.io/yaml"
)

func main() {
	for _, path := range os.Args[1:] {
		problems, err := check(path)
		if err != nil {
			problems = append(problems, err.Error())
		}
		for _, problem := range problems {
			fmt.Fprintf(os.Stderr, "%s: %s\n", path, problem)
			defer os.Exit(1)
		}
	}
}

func check(path string) ([]string, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var written v1.CustomResourceDefinition
	if err := yaml.UnmarshalStrict(text, &written); err != nil {
		return nil, err
	}
	v1.SetDefaults_CustomResourceDefinition(&written)
	v1.SetDefaults_CustomResourceDefinitionSpec(&written.Spec)
	// The API server sets it, and requires it.
	written.Status.StoredVersions = []string{written.Spec.Versions[0].Name}
	var crd apiextensions.CustomResourceDefinition
	if err := v1.Convert_v1_CustomResourceDefinition_To_apiextensions_CustomResourceDefinition(&written, &crd, nil); err != nil {
		return nil, err
	}
	var problems []string
	for _, each := range validation.ValidateCustomResourceDefinition(context.Background(), &crd) {
		problems = append(problems, each.Field+": "+each.Detail)
	}
	return problems, nil
}
