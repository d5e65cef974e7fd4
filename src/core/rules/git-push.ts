/**
 * `git push` read from its argument list: what would be updated, and what would be overwritten or deleted, by refspec
 * (`+main`, `:main`) as well as by option. What is not understood is refused, because the broker pushes by itself from
 * what is read here.
 */

export interface RefUpdate {
  /** What is pushed; empty: the reference is deleted. */
  src: string
  /** Empty: the name that git would choose for `src`. */
  dst: string
  force: boolean
  delete: boolean
}

export interface GitPush {
  /** A name or an address; undefined: the default of the branch. */
  remote: string | undefined
  updates: readonly RefUpdate[]
  all: boolean
  tags: boolean
  followTags: boolean
  mirror: boolean
  /** Deletes what is not here, among what the updates match. */
  prune: boolean
  atomic: boolean
  dryRun: boolean
  setUpstream: boolean
  /** Every update may overwrite. */
  force: boolean
  /** The values of `--force-with-lease`; empty text: for everything. */
  leases: readonly string[]
  forceIfIncludes: boolean
  pushOptions: readonly string[]
}

export type GitPushResult = { ok: true; push: GitPush } | { ok: false; problem: string }

/** Options without a value that are read; what they set, or nothing. */
const FLAGS = new Map<string, keyof GitPush | 'delete' | undefined>([
  ['--all', 'all'],
  ['--branches', 'all'],
  ['--mirror', 'mirror'],
  ['--delete', 'delete'],
  ['--tags', 'tags'],
  ['--follow-tags', 'followTags'],
  ['--dry-run', 'dryRun'],
  ['--force', 'force'],
  ['--force-if-includes', 'forceIfIncludes'],
  ['--prune', 'prune'],
  ['--set-upstream', 'setUpstream'],
  ['--atomic', 'atomic'],
  ['--verbose', undefined],
  ['--quiet', undefined],
  ['--porcelain', undefined],
  ['--progress', undefined],
  ['--thin', undefined],
  ['--verify', undefined],
  ['--ipv4', undefined],
  ['--ipv6', undefined],
])
const OTHERS = [
  '--repo',
  '--push-option',
  '--force-with-lease',
  '--recurse-submodules',
  '--receive-pack',
  '--exec',
  '--signed',
]
const LONG = [...FLAGS.keys(), ...OTHERS]
const LETTERS = new Map([
  ['v', '--verbose'],
  ['q', '--quiet'],
  ['d', '--delete'],
  ['n', '--dry-run'],
  ['f', '--force'],
  ['u', '--set-upstream'],
  ['4', '--ipv4'],
  ['6', '--ipv6'],
  ['o', '--push-option'],
])

/** Expects the arguments behind `push`. */
export function parseGitPush(args: readonly string[]): GitPushResult {
  return new PushReader(args).read()
}

class PushReader {
  readonly #args: readonly string[]
  readonly #set = new Map<string, boolean>()
  readonly #words: string[] = []
  readonly #leases: string[] = []
  readonly #pushOptions: string[] = []
  #repo: string | undefined
  #problem: string | undefined

  constructor(args: readonly string[]) {
    this.#args = args
  }

  read(): GitPushResult {
    for (let at = 0; at < this.#args.length && !this.#problem; at++) {
      const arg = this.#args[at] ?? ''
      if (arg === '--') {
        this.#words.push(...this.#args.slice(at + 1))
        break
      }
      if (arg.startsWith('--')) at += this.#long(arg, at)
      else if (arg.startsWith('-') && arg.length > 1) at += this.#letters(arg, at)
      else this.#words.push(arg)
    }
    if (this.#problem) return { ok: false, problem: this.#problem }
    const is = (name: string) => this.#set.get(name) === true
    const [remote = this.#repo, ...refspecs] = this.#words
    const updates: RefUpdate[] = []
    for (let at = 0; at < refspecs.length; at++) {
      const spec = refspecs[at] === 'tag' ? `refs/tags/${refspecs[++at] ?? ''}` : (refspecs[at] ?? '')
      const update = updateOf(spec, is('delete'))
      if (typeof update === 'string') return { ok: false, problem: update }
      updates.push(update)
    }
    return {
      ok: true,
      push: {
        remote,
        updates,
        all: is('all'),
        tags: is('tags'),
        followTags: is('followTags'),
        mirror: is('mirror'),
        prune: is('prune'),
        atomic: is('atomic'),
        dryRun: is('dryRun'),
        setUpstream: is('setUpstream'),
        force: is('force'),
        leases: this.#leases,
        forceIfIncludes: is('forceIfIncludes'),
        pushOptions: this.#pushOptions,
      },
    }
  }

  #long(arg: string, at: number): number {
    const sign = arg.indexOf('=')
    const written = sign === -1 ? arg : arg.slice(0, sign)
    const inline = sign === -1 ? undefined : arg.slice(sign + 1)
    const negated = written.startsWith('--no-') && !LONG.includes(written)
    const name = complete(negated ? `--${written.slice(5)}` : written)
    if (name === undefined) return this.#fail(`the option ${written} is not known`)
    return this.#option(name, inline, at, !negated)
  }

  #letters(arg: string, at: number): number {
    for (let place = 1; place < arg.length; place++) {
      const name = LETTERS.get(arg[place] ?? '')
      if (name === undefined) return this.#fail(`the option -${arg[place]} is not known`)
      const rest = arg.slice(place + 1)
      if (name === '--push-option') return this.#option(name, rest || undefined, at, true)
      this.#option(name, undefined, at, true)
    }
    return 0
  }

  /** How many further arguments belong to it. */
  #option(name: string, inline: string | undefined, at: number, on: boolean): number {
    if (FLAGS.has(name)) {
      if (inline !== undefined) return this.#fail(`${name} takes no value`)
      const key = FLAGS.get(name)
      if (key) this.#set.set(key, on)
      return 0
    }
    const value = inline ?? this.#args[at + 1]
    const used = inline === undefined ? 1 : 0
    switch (name) {
      case '--force-with-lease':
        if (on) this.#leases.push(inline ?? '')
        else this.#leases.length = 0
        return 0
      case '--signed':
        return !on || /^(no|false|0)$/.test(inline ?? '') ? 0 : this.#fail('a signed push is not supported')
      case '--recurse-submodules':
        if (!on) return 0
        return value === 'no'
          ? used
          : this.#fail('pushing submodules too is not supported; push them one by one')
      case '--repo':
        if (!on || value === undefined) return this.#fail('--repo has no value')
        this.#repo = value
        return used
      case '--push-option':
        if (!on) this.#pushOptions.length = 0
        else if (value === undefined) return this.#fail('--push-option has no value')
        else this.#pushOptions.push(value)
        return on ? used : 0
      default:
        return this.#fail(`${name} names a program to be started on the other side`)
    }
  }

  #fail(problem: string): number {
    this.#problem ??= problem
    return 0
  }
}

/** git takes the beginning of a long option for the option, if it is the beginning of one only. */
function complete(text: string): string | undefined {
  if (LONG.includes(text)) return text
  const found = text.length > 2 ? LONG.filter((name) => name.startsWith(text)) : []
  return found.length === 1 ? found[0] : undefined
}

function updateOf(spec: string, isDelete: boolean): RefUpdate | string {
  const force = spec.startsWith('+')
  const text = force ? spec.slice(1) : spec
  const parts = text.split(':')
  if (text.startsWith('^')) return `${spec} excludes references, which is not supported; name what is pushed`
  if (parts.length > 2 || /[\s~?[\\]|\.\.|@\{/.test(parts[1] ?? '')) return `${spec} is not a refspec`
  if (isDelete) {
    if (parts.length > 1 || text === '') return `${spec} cannot be deleted: --delete takes plain names`
    return { src: '', dst: text, force, delete: true }
  }
  const [src = '', dst = ''] = parts
  // A colon alone pushes the branches that exist on both sides.
  return { src, dst, force, delete: parts.length === 2 && src === '' && dst !== '' }
}

/** Whether something on the other side may be overwritten or deleted. */
export function overwrites(push: GitPush): boolean {
  const { force, leases, forceIfIncludes, prune, mirror, updates } = push
  if (force || forceIfIncludes || prune || mirror || leases.length > 0) return true
  return updates.some((update) => update.force || update.delete)
}

/**
 * For patterns: the options that say what a push does, however it is written. A deletion counts as forced. Generous where
 * the arguments are not understood.
 */
export function pushEffects(args: readonly string[]): string[] {
  const at = args.findIndex((arg) => arg === 'push' || arg === 'send-pack')
  if (at === -1) return []
  const result = parseGitPush(args.slice(at + 1))
  if (!result.ok) {
    return args.some((arg) => /^(\+|:.)|^--(f|d|p|m)|^-[a-z]*[fd]/.test(arg)) ? ['--force'] : []
  }
  const { push } = result
  return [
    ...(overwrites(push) ? ['--force'] : []),
    ...(push.mirror ? ['--mirror'] : []),
    ...(push.prune || push.updates.some((update) => update.delete) ? ['--delete'] : []),
  ]
}
