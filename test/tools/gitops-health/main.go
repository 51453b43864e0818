// Says what kstatus (as in Flux) and health checks in Lua (as in Argo CD) make of resources. Standard input has one JSON
// object a line: a resource, and the Lua text of its health check. Standard output has one answer a line.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"

	lua "github.com/yuin/gopher-lua"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/cli-utils/pkg/kstatus/status"
)

type question struct {
	Object map[string]any `json:"object"`
	Lua    string         `json:"lua"`
}

type answer struct {
	Kstatus string `json:"kstatus"`
	Health  string `json:"health"`
	Message string `json:"message"`
}

func main() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<24)
	out := json.NewEncoder(os.Stdout)
	for lines.Scan() {
		said, err := ask(lines.Bytes())
		if err == nil {
			err = out.Encode(said)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
}

func ask(line []byte) (*answer, error) {
	var asked question
	if err := json.Unmarshal(line, &asked); err != nil {
		return nil, err
	}
	object := &unstructured.Unstructured{}
	bytes, err := json.Marshal(asked.Object)
	if err != nil {
		return nil, err
	}
	// Not by json.Unmarshal: numbers must be integers.
	if err := object.UnmarshalJSON(bytes); err != nil {
		return nil, err
	}
	result, err := status.Compute(object)
	if err != nil {
		return nil, err
	}
	health, message, err := run(asked.Lua, object.Object)
	if err != nil {
		return nil, err
	}
	return &answer{Kstatus: result.Status.String(), Health: health, Message: message}, nil
}

// Argo CD opens no other libraries for a health check.
var libraries = []struct {
	name string
	open lua.LGFunction
}{{lua.LoadLibName, lua.OpenPackage}, {lua.BaseLibName, lua.OpenBase}, {lua.TabLibName, lua.OpenTable}}

// Argo CD's module "os" has these two functions of the usual one, and is no global variable.
func clock(state *lua.LState) int {
	lua.OpenOs(state)
	full := state.GetGlobal(lua.OsLibName)
	module := state.NewTable()
	for _, name := range []string{"time", "date"} {
		module.RawSetString(name, state.GetField(full, name))
	}
	state.SetGlobal(lua.OsLibName, lua.LNil)
	state.Push(module)
	return 1
}

func run(script string, object map[string]any) (string, string, error) {
	state := lua.NewState(lua.Options{SkipOpenLibs: true})
	defer state.Close()
	for _, library := range libraries {
		open := lua.P{Fn: state.NewFunction(library.open), NRet: 0, Protect: true}
		if err := state.CallByParam(open, lua.LString(library.name)); err != nil {
			return "", "", err
		}
	}
	state.PreloadModule(lua.OsLibName, clock)
	state.SetGlobal("obj", value(state, object))
	if err := state.DoString(script); err != nil {
		return "", "", err
	}
	table, ok := state.Get(-1).(*lua.LTable)
	if !ok {
		return "", "", fmt.Errorf("no table: %s", state.Get(-1))
	}
	message := ""
	if text, ok := table.RawGetString("message").(lua.LString); ok {
		message = string(text)
	}
	return table.RawGetString("status").String(), message, nil
}

func value(state *lua.LState, from any) lua.LValue {
	switch it := from.(type) {
	case bool:
		return lua.LBool(it)
	case float64:
		return lua.LNumber(it)
	case int64:
		return lua.LNumber(it)
	case string:
		return lua.LString(it)
	case []any:
		table := state.CreateTable(len(it), 0)
		for _, item := range it {
			table.Append(value(state, item))
		}
		return table
	case map[string]any:
		table := state.CreateTable(0, len(it))
		for key, item := range it {
			table.RawSetH(lua.LString(key), value(state, item))
		}
		return table
	}
	return lua.LNil
}
