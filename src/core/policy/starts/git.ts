/** What git starts besides: aliases, what settings and options say. */
import { type Field, literal } from '../command.ts'
import { isHarmlessSetting } from '../git-config.ts'
import { isOption, textsOf } from '../options.ts'
import { innerScope } from '../scope.ts'
import { quote } from './called.ts'
import type { Starting } from './starting.ts'

/** Aliases and settings given on the command line are commands too. */
export function startGit(starting: Starting): void {
  const { args, scope, walker } = starting
  starting.done()
  let aliases: Map<string, string> | undefined
  let at = 0
  for (; at < args.length && isOption(args[at]?.text ?? ''); at++) {
    const text = args[at]?.text ?? ''
    if (/^--(exec-path=|config-env)/.test(text)) starting.opaque('changes what git starts')
    if (!/^(-C|-c|--git-dir|--work-tree|--namespace|--config-env|--super-prefix)$/.test(text)) continue
    const value = args[++at]
    if (text !== '-c' || !value) continue
    const [, key = '', setting = ''] = /^([^=]+)=?(.*)$/s.exec(value.text) ?? []
    if (/^alias\./i.test(key)) {
      aliases ??= new Map()
      aliases.set(key.slice(6).toLowerCase(), setting)
    } else if (value.unknown || !isHarmlessSetting(key, setting))
      starting.opaque(`sets ${key} of git, which may start a program`)
  }
  const sub = args[at]
  if (!sub) return
  const rest = args.slice(at + 1)
  const alias = aliases?.get(sub.text.toLowerCase())
  if (alias !== undefined) startAlias(alias, rest, starting)
  if (sub.text === 'config') {
    const words = rest.filter(({ text }) => !isOption(text))
    const [key, value] = words[0]?.text === 'set' ? words.slice(1) : words
    if (key && value && /^alias\./i.test(key.text)) startAlias(value.text, [], starting)
    if (key && value && /^\+|^!/.test(value.text)) starting.opaque('changes what git does later')
  }
  if (sub.unknown || (!KNOWN_GIT.has(sub.text) && alias === undefined))
    starting.opaque('may be an alias of git')
  if (sub.text === 'send-pack') starting.next([literal('git'), literal('push'), ...rest])
  const runs = textsOf(rest)
  const foreach = runs.indexOf('foreach')
  if (sub.text === 'submodule' && foreach !== -1) {
    walker.text(
      runs
        .slice(foreach + 1)
        .filter((text) => !/^--(recursive|quiet)$/.test(text))
        .join(' '),
      innerScope(scope),
    )
  } else if (sub.text === 'bisect' && runs[0] === 'run') starting.next(rest.slice(1))
  else if (
    sub.text === 'rebase' ||
    sub.text === 'difftool' ||
    sub.text === 'filter-branch' ||
    sub.text === 'mergetool'
  ) {
    for (const [index, text] of runs.entries()) {
      const [, value] = /^(?:--ex[a-z]*|-x|--[a-z-]+-filter)=?(.*)$/s.exec(text) ?? []
      if (value !== undefined) walker.text(value || (runs[index + 1] ?? ''), innerScope(scope))
    }
  } else if (
    runs.some(tellsGit) ||
    (sub.text === 'grep' && runs.some((text) => /^-[a-zA-Z]*O/.test(text))) ||
    (sub.text === 'clone' && runs.some((text) => /^-[a-zA-Z]*[uc]/.test(text)))
  ) {
    starting.opaque('tells git what to start')
  }
}

/** Their values are started, or settings that may be. */
const TELLS_GIT = [
  '--upload-pack',
  '--receive-pack',
  '--exec',
  '--open-files-in-pager',
  '--ext-diff',
  '--extcmd',
  '--tool',
  '--smtp-server',
  '--sendmail-cmd',
  '--to-cmd',
  '--cc-cmd',
  '--config',
  '--template',
]

/** git takes any beginning of an option that is not also that of another one. */
function tellsGit(text: string): boolean {
  if (!text.startsWith('--')) return text.includes('::') && /^(ext|fd)::/.test(text)
  const [name = ''] = text.split('=', 1)
  return name.length > 2 && TELLS_GIT.some((option) => option.startsWith(name))
}

const KNOWN_GIT = new Set(
  'add am annotate apply archive bisect blame branch bundle cat-file check-attr check-ignore checkout cherry cherry-pick clean clone commit config count-objects describe diff diff-files diff-index diff-tree difftool fetch filter-branch for-each-ref format-patch fsck gc grep help init log ls-files ls-remote ls-tree merge merge-base mergetool mv name-rev notes pull push range-diff rebase reflog remote repack replace reset restore rev-list rev-parse revert rm send-pack shortlog show show-ref sparse-checkout stash status submodule switch symbolic-ref tag update-index update-ref var version whatchanged worktree write-tree lfs maintenance prune hash-object'.split(
    ' ',
  ),
)

function startAlias(alias: string, rest: readonly Field[], starting: Starting): void {
  const { scope, walker } = starting
  if (alias.startsWith('!')) {
    walker.text(`${alias.slice(1)} ${rest.map(quote).join(' ')}`, innerScope(scope))
    return
  }
  starting.next([literal('git'), ...alias.split(/\s+/).filter(Boolean).map(literal), ...rest])
}
