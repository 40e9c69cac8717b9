// SPDX-License-Identifier: Apache-2.0

// Prints data about the hashes of the Go-based operator that only Go can compute. `types` prints the Go types that its
// hash prints. `hashes` and `quantities` print Go's result for given templates and quantities, which tests compare with
// the TypeScript implementation. go.mod has the Kubernetes library of that operator: another version has other fields,
// and therefore other hashes. This program is not needed to build, run or test the project itself.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"os"
	"reflect"
	"strings"

	"github.com/davecgh/go-spew/spew"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kjson "sigs.k8s.io/json"
)

func main() {
	if len(os.Args) != 2 {
		fail("usage: legacy types|hashes|quantities")
	}
	switch os.Args[1] {
	case "types":
		printTypes()
	case "hashes":
		eachLine(hashesOf)
	case "quantities":
		eachLine(quantityOf)
	default:
		fail("unknown command " + os.Args[1])
	}
}

// printTypes writes one JSON object: type name to description, for every type a pod template can contain.
// A struct is printed as its fields `GoName jsonName type`, joined by commas. jsonName is `+` if JSON inlines the
// fields of an embedded struct into the parent, and `-` if JSON cannot set the field. Any other type is printed as `=`
// and its underlying type.
func printTypes() {
	table := map[string]string{}
	seen := map[string]reflect.Type{}
	collect(reflect.TypeFor[corev1.PodTemplateSpec](), table, seen)
	write(table)
}

func collect(t reflect.Type, table map[string]string, seen map[string]reflect.Type) {
	// It is only referenced by nil pointers, and its fields differ between Go releases.
	if t.String() == "time.Location" {
		return
	}
	if t.Name() != "" && t.PkgPath() != "" {
		if other, ok := seen[t.String()]; ok {
			if other != t {
				fail("two types print as " + t.String())
			}
			return
		}
		seen[t.String()] = t
		table[t.String()] = describe(t)
	}
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice:
		collect(t.Elem(), table, seen)
	case reflect.Map:
		collect(t.Key(), table, seen)
		collect(t.Elem(), table, seen)
	case reflect.Struct:
		// It is printed as text.
		if t == reflect.TypeFor[resource.Quantity]() {
			return
		}
		for i := range t.NumField() {
			collect(t.Field(i).Type, table, seen)
		}
	}
}

func describe(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Struct:
		fields := []string{}
		if t == reflect.TypeFor[resource.Quantity]() {
			return ""
		}
		for i := range t.NumField() {
			field := t.Field(i)
			fields = append(fields, field.Name+" "+jsonName(field)+" "+field.Type.String())
		}
		return strings.Join(fields, ",")
	case reflect.Map:
		return "=map[" + t.Key().String() + "]" + t.Elem().String()
	case reflect.Slice:
		return "=[]" + t.Elem().String()
	default:
		return "=" + t.Kind().String()
	}
}

func jsonName(field reflect.StructField) string {
	name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
	switch {
	case !field.IsExported():
		return "-"
	case name != "":
		return name
	case field.Anonymous:
		return "+"
	default:
		return field.Name
	}
}

type cliqueInput struct {
	Labels      map[string]string `json:"labels"`
	Annotations map[string]string `json:"annotations"`
	Spec        struct {
		PodSpec corev1.PodSpec `json:"podSpec"`
	} `json:"spec"`
}

type hashesInput struct {
	Template struct {
		PriorityClassName string        `json:"priorityClassName"`
		Cliques           []cliqueInput `json:"cliques"`
	} `json:"template"`
}

type hashesOutput struct {
	Error    string   `json:"error,omitempty"`
	Prints   []string `json:"prints"`
	Sums     []string `json:"sums"`
	TotalSum string   `json:"totalSum"`
}

// hashesOf reads the spec of a PodCliqueSet and writes print and FNV sum of each clique's pod template, and the sum
// of all prints.
func hashesOf(line []byte) {
	var input hashesInput
	// Field names are case-sensitive, as in API clients and unlike encoding/json.
	if err := kjson.UnmarshalCaseSensitivePreserveInts(line, &input); err != nil {
		write(hashesOutput{Error: err.Error()})
		return
	}
	output := hashesOutput{Prints: []string{}, Sums: []string{}}
	total := fnv.New64a()
	printer := spew.ConfigState{Indent: " ", SortKeys: true, DisableMethods: true, SpewKeys: true}
	for _, clique := range input.Template.Cliques {
		template := corev1.PodTemplateSpec{
			ObjectMeta: metav1.ObjectMeta{Labels: clique.Labels, Annotations: clique.Annotations},
			Spec:       clique.Spec.PodSpec,
		}
		template.Spec.PriorityClassName = input.Template.PriorityClassName
		text := printer.Sprintf("%#v", &template)
		own := fnv.New64a()
		own.Write([]byte(text))
		total.Write([]byte(text))
		output.Prints = append(output.Prints, text)
		output.Sums = append(output.Sums, fmt.Sprint(own.Sum64()))
	}
	output.TotalSum = fmt.Sprint(total.Sum64())
	write(output)
}

type quantityOutput struct {
	Error string `json:"error,omitempty"`
	Print string `json:"print"`
	Text  string `json:"text"`
}

// quantityOf reads a list of quantities. For each it writes the error, or the print and the canonical text.
func quantityOf(line []byte) {
	var texts []string
	if err := json.Unmarshal(line, &texts); err != nil {
		fail(err.Error())
	}
	outputs := []quantityOutput{}
	printer := spew.ConfigState{Indent: " ", SortKeys: true, DisableMethods: true, SpewKeys: true}
	for _, text := range texts {
		quantity, err := resource.ParseQuantity(text)
		if err != nil {
			outputs = append(outputs, quantityOutput{Error: err.Error()})
			continue
		}
		outputs = append(outputs, quantityOutput{Print: printer.Sprintf("%#v", quantity), Text: quantity.String()})
	}
	write(outputs)
}

func eachLine(handle func(line []byte)) {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		handle(lines.Bytes())
	}
	if err := lines.Err(); err != nil {
		fail(err.Error())
	}
}

func write(value any) {
	encoder := json.NewEncoder(os.Stdout)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		fail(err.Error())
	}
}

func fail(text string) {
	fmt.Fprintln(os.Stderr, text)
	os.Exit(1)
}
