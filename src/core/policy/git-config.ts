/** Settings of git that start a program, or change what a later command does. */
import { type Field, UNKNOWN } from './command.ts'
import { isOption, textsOf } from './options.ts'

/** Of a call of git: a setting that must not be made, or nothing. `strict`: only those known to be harmless may be. */
export function gitSetting(fields: readonly Field[], strict: boolean): string | undefined {
  const [first] = fields
  // Mostly there is nothing before the sub-command, and that sets nothing.
  if (!first || (!isOption(first.text) && !OWN.has(first.text))) return undefined
  const { given, rest } = globalSettings(textsOf(fields))
  const [sub = '', ...after] = rest
  const reads = after.some((arg) => /^(--get.*|--list|-l)$/.test(arg))
  if (sub === 'config' && !reads && fields.some(({ unknown }) => unknown === 'many')) return UNKNOWN
  const all = [...given, ...(OWN.get(sub)?.(after) ?? [])]
  return all.find(([key, value]) => !mayBeSet(key, value, strict))?.[0]
}

type Setting = readonly [key: string, value: string]

/** `git -c key=value`, before the sub-command. */
function globalSettings(args: readonly string[]): { given: Setting[]; rest: readonly string[] } {
  const given: Setting[] = []
  let at = 0
  for (; at < args.length && isOption(args[at] ?? ''); at++) {
    const arg = args[at] ?? ''
    const joined = /^--config-env=(.*)$/s.exec(arg)?.[1]
    if (joined !== undefined) given.push(fromEnvironment(joined))
    else if (arg === '--config-env') given.push(fromEnvironment(args[++at] ?? ''))
    else if (arg === '-c') given.push(split(args[++at] ?? ''))
    else if (/^(-C|--git-dir|--work-tree|--namespace|--super-prefix|--attr-source)$/.test(arg)) at++
  }
  return { given, rest: args.slice(at) }
}

function split(text: string): Setting {
  const at = text.indexOf('=')
  return at === -1 ? [text, 'true'] : [text.slice(0, at), text.slice(at + 1)]
}

/** The value is in a variable. */
const fromEnvironment = (text: string): Setting => [split(text)[0], '…']

function copied(args: readonly string[]): Setting[] {
  return args.flatMap((arg, index) => {
    if (/^(-c|--conf[a-z]*)$/.test(arg)) return [split(args[index + 1] ?? '')]
    const value = /^(?:-c|--conf[a-z]*=)(.+)$/s.exec(arg)?.[1]
    if (value !== undefined) return [split(value)]
    // Hooks may be among what is copied from there.
    return /^--te/.test(arg) ? [['init.templateDir', arg] as const] : []
  })
}

function mirrored(args: readonly string[]): Setting[] {
  return args.some((arg) => /^--mi[a-z]*(=push)?$/.test(arg)) ? [['remote.*.mirror', 'true']] : []
}

function configured(args: readonly string[]): Setting[] {
  const options = args.filter(isOption)
  if (options.some((option) => /^(--get.*|--list|-l|--unset.*|--remove-section)$/.test(option))) return []
  // Whatever is written there, or moved from where it is harmless.
  if (options.some((option) => /^(-e|--e[a-z]*|--ren[a-z-]*)$/.test(option))) return [['alias.*', '…']]
  const words = args.filter(
    (arg, index) =>
      !(isOption(arg) && arg !== '-') &&
      !/^(-f|--file|--blob|--type|--default|--comment|--value|--url)$/.test(args[index - 1] ?? ''),
  )
  const [first = '', ...others] = words
  switch (first) {
    case 'get':
    case 'list':
    case 'unset':
    case 'remove-section':
      return []
    case 'edit':
    case 'rename-section':
      return [['alias.*', '…']]
    case 'set':
      return [[others[0] ?? '', others[1] ?? '']]
  }
  const [value] = others
  return value === undefined && !options.includes('--add') ? [] : [[first, value ?? '']]
}

/** What a sub-command sets by itself. The others set nothing. */
const OWN: ReadonlyMap<string, (args: readonly string[]) => Setting[]> = new Map([
  ['config', configured],
  ['clone', copied],
  ['init', copied],
  ['remote', mirrored],
])

/** Whatever it is for: a value that is no name of a program starts none. */
const INERT = /^(|true|false|yes|no|on|off|\d+|\/dev\/null|cat|:|never)$/

const HARMLESS =
  /^(user|author|committer|color|column|advice|status|log|safe|gc|pack|index|feature|i18n|blame|versionsort|rerere)\..*|^(init\.defaultbranch|pull\.(rebase|ff)|push\.(default|autosetupremote|followtags)|fetch\.(prune|prunetags|parallel)|core\.(autocrlf|eol|safecrlf|filemode|ignorecase|quotepath|longpaths|symlinks|abbrev|whitespace|commentchar|untrackedcache|preloadindex|compression)|merge\.(conflictstyle|ff|renames|renamelimit)|rebase\.(autosquash|autostash|updaterefs|abbreviatecommands)|diff\.(renames|renamelimit|noprefix|mnemonicprefix|algorithm|colormoved|context)|commit\.(gpgsign|verbose|status)|tag\.(gpgsign|sort)|branch\.(sort|autosetuprebase|autosetupmerge)|branch\..*\.(remote|merge|rebase|description)|remote\..*\.(url|fetch|prune|tagopt)|http\.(version|postbuffer|lowspeedlimit|lowspeedtime)|submodule\.recurse|help\.autocorrect)$/i

/** Also when it is merely switched on. */
const PUSHING = /^(remote\..*\.(mirror|push|pushurl|receivepack|uploadpack|vcs)|core\.worktree|include.*)$/i

/** Directories and files, which may have any name. */
const PLACES = /^(core\.(hookspath|attributesfile)|init\.templatedir)$/i

const STARTING =
  /^(alias|credential|url|filter|difftool|mergetool|pager|browser|man|guitool|sendemail|trailer|gpg|uploadpack|sequence|interactive|instaweb|web|hook|protocol|ssh|tar|imap|include|includeif)\.|^core\.(pager|editor|sshcommand|fsmonitor|hookspath|askpass|gitproxy|attributesfile|alternaterefscommand|virtualfilesystem)$|^diff\.(external|tool|guitool|.*\.(command|textconv))$|^merge\.(tool|guitool|.*\.driver)$|^init\.templatedir$|^submodule\..*\.update$|^lfs\.(customtransfer|extension|standalonetransferagent)/i

/** It neither starts a program nor changes what a later command does. */
export const isHarmlessSetting = (key: string, value: string) => mayBeSet(key, value, true)

function mayBeSet(key: string, value: string, strict: boolean): boolean {
  if (listsRefs(key, value)) return true
  if (key.includes(UNKNOWN)) return false
  if (PUSHING.test(key)) return false
  if (PLACES.test(key)) return value === '' || value === '/dev/null'
  if (INERT.test(value) || HARMLESS.test(key)) return true
  return !strict && !STARTING.test(key)
}

/** With this agents make their own calls of git harmless: it lists the refs of another repository, and nothing else. */
const listsRefs = (key: string, value: string) =>
  key.toLowerCase() === 'core.alternaterefscommand' && value === LISTS_REFS

const LISTS_REFS = `f() { git --git-dir="$1" for-each-ref --format='%(objectname)'; }; f`
