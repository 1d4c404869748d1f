// A plugin of Vite that has the tests of a TypeScript project note which functions of its own source run, and from which call.
// docs/results/languages.md says how it was used. Lines of the file named by TS_CALLS, one a fact, fields apart by tabs:
//   S caller, name, kind: a call that ran     E caller, name: one that entered a function of the project
//   C caller, name, callee: one that entered a function of that very name     G name: of a generator, which runs later than it is called
// A caller and a callee are `path:line` of the line their name stands on. A call is noted last before it is made (its arguments are
// evaluated by then) and taken back when it returns, so that what is entered in between was called by it, or by code outside.
// Not noted: `new` and `super()` (they enter another name), calls in optional chains, calls outside of any named function.
import { appendFileSync } from 'node:fs'
import { relative } from 'node:path'
import MagicString from 'magic-string'
import ts from 'typescript'

const functions = new Set([
  ts.SyntaxKind.FunctionDeclaration, ts.SyntaxKind.FunctionExpression, ts.SyntaxKind.ArrowFunction, ts.SyntaxKind.MethodDeclaration,
  ts.SyntaxKind.Constructor, ts.SyntaxKind.GetAccessor, ts.SyntaxKind.SetAccessor,
])

/** What names a function: its declaration, or what holds it; the own name of an expression is known only inside of it. */
function naming(node) {
  if (node.kind === ts.SyntaxKind.Constructor) return node
  if (node.name && !ts.isFunctionExpression(node)) return node.name
  const above = node.parent
  const holds = ts.isVariableDeclaration(above) || ts.isPropertyAssignment(above) || ts.isPropertyDeclaration(above)
  return holds && above.initializer === node ? above.name : undefined
}

function written(name) {
  return name.kind === ts.SyntaxKind.Constructor ? 'constructor' : name.text ?? name.getText()
}

/** How a call is written: its name and `name`, `self`, `super` or `attr`; undefined for a call of anything else. */
function call(node) {
  const callee = node.expression
  if (ts.isIdentifier(callee)) return [callee.text, 'name']
  if (!ts.isPropertyAccessExpression(callee)) return undefined
  const kinds = { [ts.SyntaxKind.ThisKeyword]: 'self', [ts.SyntaxKind.SuperKeyword]: 'super' }
  return [callee.name.text, kinds[callee.expression.kind] ?? 'attr']
}

function instrumented(code, id, path, generator) {
  const source = ts.createSourceFile(id, code, ts.ScriptTarget.Latest, true, id.endsWith('x') ? ts.ScriptKind.TSX : ts.ScriptKind.TS)
  const out = new MagicString(code)
  const line = (at) => source.getLineAndCharacterOfPosition(at).line + 1
  const place = (name) => `${path}:${line(name.getStart(source))}`

  function visit(node, caller) {
    const name = functions.has(node.kind) ? naming(node) : undefined
    ts.forEachChild(node, (child) => visit(child, name ? place(name) : caller))
    if (functions.has(node.kind) && node.body) {
      if (node.asteriskToken) {
        generator(name ? written(name) : '')
        return
      }
      const entered = `__calls.enter(${JSON.stringify(name ? place(name) : '')}, ${JSON.stringify(name ? written(name) : '')})`
      if (ts.isBlock(node.body)) {
        out.appendLeft(node.body.getStart(source) + 1, `${entered};`)
      } else {
        out.prependRight(node.body.getStart(source), `(${entered}, `)
        out.appendLeft(node.body.getEnd(), ')')
      }
      return
    }
    const makes = ts.isNewExpression(node)
    if (!(ts.isCallExpression(node) || makes) || !node.arguments) return
    if (node.expression.kind === ts.SyntaxKind.ImportKeyword || node.flags & ts.NodeFlags.OptionalChain) return
    const said = makes || node.expression.kind === ts.SyntaxKind.SuperKeyword ? undefined : call(node)
    const key = caller && said ? [caller, ...said].join('\t') : ''
    const noted = `...__calls.begin(${JSON.stringify(key)})`
    const last = node.arguments.at(-1)
    out.appendLeft(last ? last.getEnd() : node.getEnd() - 1, last ? `, ${noted}` : noted)
    out.prependRight(node.getStart(source), '__calls.end(')
    out.appendLeft(node.getEnd(), ')')
  }

  visit(source, '')
  return { code: out.toString(), map: out.generateMap({ hires: true }) }
}

/** What runs beside the tests; everything is written when a file of tests is through. */
export function listen(file, after) {
  const open = []
  const facts = new Set()
  const none = Object.freeze([])
  globalThis.__calls = {
    begin(key) {
      open.push([key, false])
      return none
    },
    end(value) {
      open.pop()
      return value
    },
    enter(callee, name) {
      const top = open.at(-1)
      if (!top || top[1]) return
      top[1] = true
      if (!top[0]) return
      const [caller, written] = top[0].split('\t')
      facts.add(`E\t${caller}\t${written}`)
      if (name === written) facts.add(`C\t${caller}\t${written}\t${callee}`)
    },
  }
  const begin = globalThis.__calls.begin
  globalThis.__calls.begin = (key) => {
    if (key) facts.add(`S\t${key}`)
    return begin(key)
  }
  after(() => {
    appendFileSync(file, [...facts].join('\n') + '\n')
    facts.clear()
  })
}

export default function calls({ root, file, source = /\/src\//, tests = /\.(test|spec)\.|test-utils|\/__/ }) {
  return {
    name: 'calls',
    enforce: 'pre',
    transform(code, id) {
      const path = id.split('?')[0]
      if (!/\.tsx?$/.test(path) || !source.test(path) || tests.test(path) || path.includes('node_modules')) return null
      return instrumented(code, path, relative(root, path), (name) => appendFileSync(file, `G\t${name}\n`))
    },
  }
}
