/** Which calls of git talk to another repository, and what such a call may never do. */
import { hasOption, optionValues, type Reading, readArguments } from './arguments.ts'
import { type CallFacts, placesOf, type Refusal } from './call.ts'
import { parseGitPush } from './git-push.ts'
import { absolutePath } from './paths.ts'

const REMOTE = new Set(
  'push fetch pull clone ls-remote send-pack fetch-pack http-fetch http-push remote-http remote-https remote-ext remote-fd request-pull imap-send send-email svn p4 cvsimport archimport daemon'.split(
    ' ',
  ),
)
/** Sub-commands of which only some parts talk to a remote. */
const REMOTE_PARTS = new Map([
  ['remote', /^(update|show|prune|set-head)$/],
  ['submodule', /^(update|add)$/],
  ['lfs', /^(fetch|pull|push|clone|lock|unlock|locks|smudge|prune)$/],
  ['maintenance', /^(run|start)$/],
])

/** Expects the arguments of git. In doubt it does: when options stand before the sub-command that are not known. */
export function talksToRemote(args: readonly string[]): boolean {
  const { words, unknown } = readArguments('git', args)
  const [sub = '', part = ''] = words
  if (unknown.some((option) => option.words === 0)) return true
  if (REMOTE.has(sub)) return true
  if (sub === 'archive') return args.some((arg) => /^--(rem|exe)/.test(arg))
  if (sub === 'remote' && part === 'add') return args.some((arg) => /^(-[a-z]*f|--f)/.test(arg))
  return REMOTE_PARTS.get(sub)?.test(part) === true
}

/** The arguments behind `push`; undefined: it is something else. */
export function pushArguments({
  words,
  args,
}: Pick<Reading, 'words' | 'args'>): readonly string[] | undefined {
  return words[0] === 'push' ? args.slice(args.indexOf('push') + 1) : undefined
}

/** What is underneath fetch and push, or is a way around them. */
const AROUND =
  /^(send-pack|fetch-pack|http-fetch|http-push|remote-\w+|svn|p4|cvsimport|archimport|imap-send|send-email|daemon)$/

/** Settings and programs by which git starts something, or sends to another place than it seems. */
const LOADING = /^(-c|--config-env|--exec-path)$/
const STARTING = /^--(upload-pack|receive-pack|exec|template|config|separate-git-dir|bundle-uri)$/

/** What no tier may do with git where it talks to a remote. */
export function gitRefusal(
  reading: Reading,
  shown: string,
  cwd: string,
  facts: CallFacts,
): Refusal | undefined {
  const { args, options, words, unknown } = reading
  if (!talksToRemote(args)) return undefined
  const never = (why: string, rule: string, advice = 'Do without it, or ask a person.'): Refusal => ({
    reason: `\`${shown}\` may never run: ${why}. ${advice}`,
    rule,
  })
  const [sub = ''] = words
  const early = unknown.find((option) => option.words === 0)
  if (early) return never(`${early.text} is not an option of git that is known`, 'options')
  if (AROUND.test(sub))
    return never(`git ${sub} goes around what is checked`, 'git-push', 'Use git push or git fetch.')
  const setting = options.find(
    ({ name, words: before }) =>
      LOADING.test(name) && (before === 0 || sub === 'clone') && name !== '--exec-path',
  )
  if (setting || hasOption(reading, '--exec-path'))
    return never(
      `with ${setting?.name ?? '--exec-path'} git may start a program or change what is pushed`,
      'git-config',
    )
  const starting = [
    ...options.map(({ name }) => name),
    ...unknown.map(({ text }) => text.replace(/=.*$/s, '')),
  ].find(
    (name) => STARTING.test(name) || (sub === 'clone' && name === '-u') || /^--(upl|rece|exe)/.test(name),
  )
  if (starting) return never(`${starting} names something that is started or loaded`, 'options')
  const transport = words.find((word) => /^[\w+.-]+::/.test(word))
  if (transport) return never(`${transport} is a transport that starts a program`, 'transport')
  const given = pushArguments(reading)
  if (!given) return writesElsewhere(reading, never, cwd, facts)
  const result = parseGitPush(given)
  if (!result.ok)
    return never(`${result.problem}`, 'git-push', 'Write the push out plainly, such as git push origin main.')
  return unknownRemote(result.push.remote, shown, facts)
}

/** What is fetched is written with the rights of the user, so only to where the agent could write it. */
function writesElsewhere(
  reading: Reading,
  never: (why: string, rule: string, advice: string) => Refusal,
  cwd: string,
  facts: CallFacts,
): Refusal | undefined {
  const [sub = '', part = '', target] = reading.words
  if (!/^(clone|fetch|pull|submodule|lfs|remote)$/.test(sub) || (sub === 'remote' && part === 'show'))
    return undefined
  const from = optionValues(reading, '-C').reduce((dir, next) => absolutePath(next, dir, facts.home), cwd)
  const named = optionValues(reading, '--git-dir', '--work-tree')
  const places = sub === 'clone' ? [target ?? '.'] : named.length > 0 ? named : ['.']
  const place = places.find((one) => !placesOf(one, from, facts).every(facts.agentCanWrite))
  if (place === undefined) return undefined
  return never(
    `it would write into ${absolutePath(place, from, facts.home)}, where you may not write`,
    'output',
    'Do it in your work directory.',
  )
}

/** A push goes to an address that was fixed before the run: else the agent could send it, and the login, anywhere. */
function unknownRemote(
  remote: string | undefined,
  shown: string,
  { remotes }: CallFacts,
): Refusal | undefined {
  if (!remotes || remote === undefined || remotes.has(remote) || [...remotes.values()].includes(remote))
    return undefined
  const names = [...remotes.keys()].join(', ') || 'none'
  return {
    reason: `\`${shown}\` may never run: ${remote} is not a remote that the repository had when the run began (${names}). Push to one of those, or ask a person.`,
    rule: 'remote',
  }
}

/** Looks at a remote, or brings what is there into the repository, without changing the work tree. */
export function gitLooks(reading: Reading): boolean {
  const { words, unknown } = reading
  if (unknown.length > 0) return false
  const [sub, part] = words
  if (sub === 'ls-remote') return true
  if (sub === 'remote') return part === 'show'
  return (
    sub === 'fetch' && !hasOption(reading, '-f', '--force', '-u', '--update-head-ok') && !forcedRefspec(words)
  )
}

/** A refspec of a fetch that writes a branch here. */
const forcedRefspec = (words: readonly string[]) =>
  words.slice(2).some((word) => word.includes(':') || word[0] === '+')
