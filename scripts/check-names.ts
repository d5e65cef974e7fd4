/**
 * Fails if src/core or src/engine names a tool, flag, model or status code of an agent: those belong into its adapter
 * (src/agents/adapter.ts). The defaults of the tiers and the names of their tools are exempt.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { ALLOWED, findNames } from './agent-names.ts'

const root = resolve(import.meta.dirname, '..')
const CHECKED = ['src/core', 'src/engine']
const EXEMPT = [
  'src/core/rules/defaults.ts',
  'src/core/rules/default-paths.ts',
  'src/core/shell/tool-names.ts',
]

const files = CHECKED.flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map((entry) => relative(root, join(entry.parentPath, entry.name))),
).filter((file) => !EXEMPT.some((place) => file.startsWith(place)))

const used = new Set<string>()
const problems = files.flatMap((file) =>
  findNames(readFileSync(join(root, file), 'utf8')).flatMap(({ line, word, what }) => {
    const allowed = ALLOWED.find((entry) => entry.file === file && entry.word === word)
    if (allowed) used.add(`${file} ${word}`)
    return allowed ? [] : [`${file}:${line}: ${word} (${what})`]
  }),
)
const unused = ALLOWED.filter(({ file, word }) => !used.has(`${file} ${word}`)).map(
  ({ file, word }) => `${file}: ${word} is allowed in scripts/agent-names.ts, and is not there any more`,
)

for (const problem of [...problems, ...unused]) console.error(problem)
if (problems.length > 0) {
  console.error(
    'These names belong to an agent: let its adapter say it in neutral terms (src/agents/adapter.ts).',
  )
}
process.exitCode = problems.length + unused.length > 0 ? 1 : 0
