/**
 * Which files a `docker compose` call reads, and whether it may. At a tier with an `allow` list the agent must not have
 * been able to write any of them; at other tiers what it could have written is read and held against the never-list, and
 * the call is changed to use what was read, so that nothing can be exchanged in between.
 */
import { optionValues, type Reading } from './arguments.ts'
import {
  type Call,
  type CallFacts,
  type CopiedFile,
  type Refusal,
  showCall,
  someAgentCanWrite,
} from './call.ts'
import { composeProblem } from './compose-file.ts'
import { absolutePath, parentOf } from './paths.ts'

/** In the order in which compose looks for them. */
const NAMES = ['compose.yaml', 'compose.yml', 'docker-compose.yml', 'docker-compose.yaml']
const OVERRIDES = [
  'compose.override.yaml',
  'compose.override.yml',
  'docker-compose.override.yml',
  'docker-compose.override.yaml',
]

interface ComposeCall {
  args: readonly string[]
  copies: readonly CopiedFile[]
}

/** Sub-commands that read no file, or do nothing with it. */
const WITHOUT_FILE = new Set(['ls', 'version', 'help', ''])

export function checkCompose(
  reading: Reading,
  call: Call,
  { restricts, looks }: { restricts: boolean; looks: boolean },
  facts: CallFacts,
): { refusal: Refusal } | ComposeCall {
  const { words, args } = reading
  const refuse = (rule: string, why: string, advice: string) => ({
    refusal: { reason: `\`${showCall(call)}\` is refused: ${why}. ${advice}`, rule },
  })
  const isStack = words[0] === 'stack' && /^(deploy|up|config)$/.test(words[1] ?? '')
  if (!isStack && (words[0] !== 'compose' || WITHOUT_FILE.has(words[1] ?? ''))) return { args, copies: [] }
  const named = isStack ? optionValues(reading, '-c', '--compose-file') : ownValues(reading, '-f', '--file')
  const remote = named.find((file) => file === '-' || file.includes('://') || /\.git(#|$)/.test(file))
  if (remote !== undefined) {
    const what = remote === '-' ? 'standard input' : remote
    return refuse('compose', `a compose file from ${what} cannot be checked`, 'Name a file.')
  }
  if (isStack && named.some((file) => !args.includes(file)))
    return refuse(
      'compose',
      'an option and its file are one argument',
      'Write -c and the file as two arguments.',
    )
  const found = filesOf(reading, named, call, facts)
  const all = [...found.files, ...found.settings, ...found.possible]
  const written = all.find((path) => someAgentCanWrite(path, call.cwd, facts))
  if (written === undefined) return { args, copies: [] }
  if (restricts && !looks) {
    return refuse(
      'agent-written',
      `${written} says what it does, and you could have written it`,
      'Run it in the folder of a compose file that you cannot write, or name that with -f; otherwise recommend escalation.',
    )
  }
  const texts = new Map<string, string>()
  for (const path of found.settings.filter(facts.exists)) {
    const text = facts.readFile(path)
    if (text === null) return refuse('compose', `${path} cannot be read`, 'Name a file that can be read.')
    const [setting] = /^\s*(export\s+)?(COMPOSE_|DOCKER_|BUILDX_|BUILDKIT_)\w*/m.exec(text) ?? []
    if (setting)
      return refuse('compose', `${path} sets ${setting.trim()}, which changes what is read`, 'Remove it.')
    texts.set(path, text)
  }
  for (const path of found.files) {
    const text = facts.readFile(path)
    const why = text === null ? 'it cannot be read' : composeProblem(text, { dir: found.dir, looks, facts })
    if (why || text === null)
      return refuse('compose', `${path} may not be used: ${why}`, 'Change that, or ask a person.')
    texts.set(path, text)
  }
  return isStack ? copiedInPlace(reading, call, texts, facts) : withCopies(reading, found, texts)
}

/** Options of compose itself stand before its sub-command. */
function ownValues(reading: Reading, ...names: readonly string[]): string[] {
  return optionValues({ ...reading, options: reading.options.filter(({ words }) => words === 1) }, ...names)
}

/** The same call with every file named, so that no other is found. */
function withCopies(
  { args, options }: Reading,
  found: Found,
  texts: ReadonlyMap<string, string>,
): ComposeCall {
  const replaced = new Set(
    options.flatMap(({ name, index, value, words }) => {
      if (words !== 1 || !/^(-f|--file|--env-file|--project-directory)$/.test(name)) return []
      return value === args[index] ? [index - 1, index] : [index]
    }),
  )
  const start = args.indexOf('compose') + 1
  const result = [...args.slice(0, start), '--project-directory', found.dir]
  const copies: CopiedFile[] = []
  for (const [path, text] of texts) {
    copies.push({ index: result.length + 1, before: '', text })
    result.push(found.files.includes(path) ? '--file' : '--env-file', path)
  }
  if (!found.settings.some((path) => texts.has(path))) result.push('--env-file', '/dev/null')
  result.push(...args.filter((_, index) => index >= start && !replaced.has(index)))
  return { args: result, copies }
}

/** `docker stack` finds no files by itself, so only those that are named are copied. */
function copiedInPlace(
  { args, options }: Reading,
  { cwd }: Call,
  texts: ReadonlyMap<string, string>,
  { home }: CallFacts,
): ComposeCall {
  const copies = options.flatMap(({ name, index, value = '' }) => {
    const text = /^(-c|--compose-file)$/.test(name) ? texts.get(absolutePath(value, cwd, home)) : undefined
    const arg = args[index] ?? ''
    return text === undefined ? [] : [{ index, before: arg.slice(0, arg.length - value.length), text }]
  })
  return { args, copies }
}

interface Found {
  /** Relative paths in the files start here. */
  dir: string
  files: string[]
  /** Files that set variables. */
  settings: string[]
  /** Where a file would be read if there were one. */
  possible: string[]
}

function filesOf(reading: Reading, named: readonly string[], { cwd }: Call, facts: CallFacts): Found {
  const at = (path: string) => absolutePath(path, cwd, facts.home)
  const [project] = ownValues(reading, '--project-directory')
  const found =
    named.length > 0 ? { files: named.map(at), possible: [] } : discovered(at(project ?? '.'), facts)
  const dir = project === undefined ? (found.files[0] ? parentOf(found.files[0]) : cwd) : at(project)
  const given = ownValues(reading, '--env-file').map(at)
  // Compose looks at the .env file of the directory it is started in only while it looks for its file.
  const dirs = named.length > 0 || project !== undefined ? [dir] : [dir, cwd]
  const settings = given.length > 0 ? given : [...new Set(dirs.map((one) => `${one}/.env`))]
  return { dir, settings, ...found }
}

/** The file in the directory or the next one above that has one, with its override. */
function discovered(from: string, facts: CallFacts): Pick<Found, 'files' | 'possible'> {
  const possible: string[] = []
  for (let dir = from; ; dir = parentOf(dir)) {
    const within = (name: string) => `${dir === '/' ? '' : dir}/${name}`
    const file = NAMES.map(within).find(facts.exists)
    possible.push(within(file ? (OVERRIDES[0] ?? '') : (NAMES[0] ?? '')))
    if (file) return { files: [file, ...OVERRIDES.map(within).filter(facts.exists)], possible }
    if (dir === '/') return { files: [], possible }
  }
}
