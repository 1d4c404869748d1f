// The calls of a Go module as its type checker resolves them: one JSON object a line, standard library only.
//
//	GO111MODULE=off CGO_ENABLED=0 go run benchmarks/truth/go_calls.go FOLDER | gzip -9 > calls.jsonl.gz
//
// Packages of the module are checked from source, with their tests; packages that are not there are empty, so what depends on
// them is said to be unknown. A record: caller ("path:line" of the function around the call, "path:0" outside of one), callee ("path:line",
// only of the module's own), name as written, kind (static, interface, dynamic, builtin, conversion, external, unknown), line of the call.
package main

import (
	"bufio"
	"encoding/json"
	"go/ast"
	"go/build"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
)

type call struct {
	Caller string `json:"caller"`
	Callee string `json:"callee,omitempty"`
	Name   string `json:"name"`
	Kind   string `json:"kind"`
	Line   int    `json:"line"`
}

type world struct {
	root, module string
	fset         *token.FileSet
	std          types.Importer
	packages     map[string]*types.Package
	files        map[string]*ast.File
	out          *json.Encoder
}

func main() {
	root, _ := filepath.Abs(os.Args[1])
	w := &world{root: root, module: moduleOf(root), fset: token.NewFileSet(), packages: map[string]*types.Package{},
		files: map[string]*ast.File{}}
	w.std = importer.ForCompiler(w.fset, "source", nil)
	buffer := bufio.NewWriter(os.Stdout)
	defer buffer.Flush()
	w.out = json.NewEncoder(buffer)
	for _, folder := range folders(root) {
		w.report(folder)
	}
}

func moduleOf(root string) string {
	data, _ := os.ReadFile(filepath.Join(root, "go.mod"))
	for _, line := range strings.Split(string(data), "\n") {
		if words := strings.Fields(line); len(words) == 2 && words[0] == "module" {
			return words[1]
		}
	}
	return ""
}

func folders(root string) []string {
	var found []string
	filepath.Walk(root, func(path string, info os.FileInfo, err error) error {
		if err != nil || !info.IsDir() {
			return nil
		}
		name := info.Name()
		if path != root && (strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") || name == "testdata" || name == "vendor") {
			return filepath.SkipDir
		}
		if _, err := os.Stat(filepath.Join(path, "go.mod")); err == nil && path != root {
			return filepath.SkipDir
		}
		found = append(found, path)
		return nil
	})
	sort.Strings(found)
	return found
}

// parsed gives the files of a folder by package name and whether they are tests.
func (w *world) parsed(folder string) (plain, tests, apart []*ast.File) {
	entries, _ := os.ReadDir(folder)
	for _, entry := range entries {
		name := entry.Name()
		if !strings.HasSuffix(name, ".go") {
			continue
		}
		if fits, _ := build.Default.MatchFile(folder, name); !fits {
			continue
		}
		path := filepath.Join(folder, name)
		file := w.files[path]
		if file == nil {
			file, _ = parser.ParseFile(w.fset, path, nil, parser.SkipObjectResolution)
			if file == nil {
				continue
			}
			w.files[path] = file
		}
		switch {
		case !strings.HasSuffix(name, "_test.go"):
			plain = append(plain, file)
		case strings.HasSuffix(file.Name.Name, "_test"):
			apart = append(apart, file)
		default:
			tests = append(tests, file)
		}
	}
	return
}

func (w *world) Import(path string) (*types.Package, error) {
	if found := w.packages[path]; found != nil {
		return found, nil
	}
	if path == "unsafe" {
		return types.Unsafe, nil
	}
	if path == w.module || strings.HasPrefix(path, w.module+"/") {
		folder := filepath.Join(w.root, strings.TrimPrefix(strings.TrimPrefix(path, w.module), "/"))
		plain, _, _ := w.parsed(folder)
		made := w.check(path, plain, nil)
		w.packages[path] = made
		return made, nil
	}
	if !strings.Contains(strings.Split(path, "/")[0], ".") {
		if found, err := w.std.Import(path); err == nil {
			w.packages[path] = found
			return found, nil
		}
	}
	parts := strings.Split(path, "/")
	made := types.NewPackage(path, strings.TrimPrefix(parts[len(parts)-1], "go-"))
	made.MarkComplete()
	w.packages[path] = made
	return made, nil
}

func (w *world) check(path string, files []*ast.File, info *types.Info) *types.Package {
	config := types.Config{Importer: w, Error: func(error) {}, FakeImportC: true}
	made, _ := config.Check(path, w.fset, files, info)
	return made
}

func (w *world) report(folder string) {
	plain, tests, apart := w.parsed(folder)
	inside, _ := filepath.Rel(w.root, folder)
	path := strings.TrimSuffix(w.module+"/"+filepath.ToSlash(inside), "/.")
	info := func() *types.Info {
		return &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Uses: map[*ast.Ident]types.Object{},
			Selections: map[*ast.SelectorExpr]*types.Selection{}, Instances: map[*ast.Ident]types.Instance{}}
	}
	if len(plain)+len(tests) > 0 {
		held := info()
		whole := append(append([]*ast.File{}, plain...), tests...)
		made := w.check(path, whole, held)
		w.calls(whole, held)
		if len(apart) > 0 {
			before := w.packages[path]
			w.packages[path] = made // a test package sees what in-package tests declare
			held = info()
			w.check(path+"_test", apart, held)
			w.calls(apart, held)
			w.packages[path] = before
		}
	} else if len(apart) > 0 {
		held := info()
		w.check(path+"_test", apart, held)
		w.calls(apart, held)
	}
}

func (w *world) calls(files []*ast.File, info *types.Info) {
	for _, file := range files {
		for _, declared := range file.Decls {
			caller := w.place(file.Pos(), 0)
			if function, ok := declared.(*ast.FuncDecl); ok {
				caller = w.place(function.Name.Pos(), -1)
			}
			ast.Inspect(declared, func(node ast.Node) bool {
				if made, ok := node.(*ast.CallExpr); ok {
					w.one(made, caller, info)
				}
				return true
			})
		}
	}
}

// place gives "path:line" below the root, "" for what is outside; the line is that of the position, or the one given.
func (w *world) place(at token.Pos, line int) string {
	found := w.fset.Position(at)
	path, err := filepath.Rel(w.root, found.Filename)
	if err != nil || strings.HasPrefix(path, "..") || !found.IsValid() {
		return ""
	}
	if line < 0 {
		line = found.Line
	}
	return filepath.ToSlash(path) + ":" + strconv.Itoa(line)
}

func (w *world) one(made *ast.CallExpr, caller string, info *types.Info) {
	called := unparen(made.Fun)
	switch held := called.(type) {
	case *ast.IndexExpr:
		if _, isType := info.Types[held.Index]; isType && info.Types[held.Index].IsType() {
			called = held.X
		}
	case *ast.IndexListExpr:
		called = held.X
	}
	record := call{Caller: caller, Line: w.fset.Position(made.Pos()).Line, Kind: "unknown"}
	var object types.Object
	switch held := called.(type) {
	case *ast.Ident:
		record.Name, object = held.Name, info.Uses[held]
	case *ast.SelectorExpr:
		record.Name, object = held.Sel.Name, info.Uses[held.Sel]
	}
	kind := info.Types[called]
	switch {
	case kind.IsType():
		record.Kind = "conversion"
	case kind.IsBuiltin():
		record.Kind = "builtin"
	case object != nil:
		if function, ok := object.(*types.Func); ok {
			record.Kind = "static"
			if signature, ok := function.Type().(*types.Signature); ok && signature.Recv() != nil && types.IsInterface(signature.Recv().Type()) {
				record.Kind = "interface"
			}
			if record.Callee = w.place(function.Pos(), -1); record.Callee == "" {
				record.Kind = "external"
			}
		} else if kind.Type != nil && kind.Type != types.Typ[types.Invalid] {
			record.Kind = "dynamic"
		}
	case kind.Type != nil && kind.Type != types.Typ[types.Invalid]:
		record.Kind = "dynamic"
	}
	w.out.Encode(record)
}

func unparen(node ast.Expr) ast.Expr {
	for {
		held, ok := node.(*ast.ParenExpr)
		if !ok {
			return node
		}
		node = held.X
	}
}
