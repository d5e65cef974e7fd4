/**
 * What no tier may do, whatever is configured: change what runs outside later on (settings, aliases, plugins of programs
 * that the broker starts), show credentials, write files with the rights of the user, or start a command on this host.
 */
import { hasOption, optionValues, type Reading, uncertainOption } from './arguments.ts'
import { type Call, type CallFacts, holdsHidden, type Refusal, showCall } from './call.ts'
import { containerRefusal } from './containers.ts'
import { gitRefusal } from './git-remote.ts'

type Row = readonly [sub: RegExp, rule: string, why: string]

const CHANGES_SETTINGS = 'it changes settings of the user that later commands follow'
const SHOWS_LOGIN = 'it shows or changes the login of the user'
const WRITES_FILES = 'it would write files with rights that you do not have'

/** By program: sub-commands. */
const SUB_COMMANDS: Record<string, readonly Row[]> = {
  kubectl: [
    [
      /^config (?!(view|get-contexts|get-clusters|get-users|current-context)( |$))/,
      'settings',
      CHANGES_SETTINGS,
    ],
    [/^proxy( |$)/, 'credentials', 'it lends the login of the user to everybody who can reach a port'],
    [/^edit( |$)/, 'options', 'it opens an editor; use kubectl patch or kubectl apply'],
    [/^(krew|plugin (?!list))/, 'settings', CHANGES_SETTINGS],
  ],
  helm: [[/^plugin (install|update|uninstall|add|remove)( |$)/, 'settings', CHANGES_SETTINGS]],
  gh: [
    [/^(alias|extension|extensions|ext) (?!(list|ls|search)( |$))/, 'settings', CHANGES_SETTINGS],
    [/^config (?!(list|ls)( |$))/, 'settings', CHANGES_SETTINGS],
    [/^auth (?!status( |$))/, 'credentials', SHOWS_LOGIN],
    [
      /^(repo clone|gist clone|run download|release download|pr checkout|co|repo sync|attestation download)( |$)/,
      'output',
      `${WRITES_FILES}; use git, or gh api and a redirection`,
    ],
    [/^(codespace|cs) (ssh|cp|jupyter|code)( |$)/, 'options', 'it starts other programs on this host'],
  ],
  tea: [
    [/^(login|logins|logout) (?!(list|ls)( |$))|^logout( |$)/, 'credentials', SHOWS_LOGIN],
    [/^(clone|C|(pr|pull|pulls) (checkout|co|clean))( |$)/, 'output', `${WRITES_FILES}; use git`],
  ],
  systemctl: [
    [
      /^(edit|link|set-environment|unset-environment|import-environment|bind|mount-image|switch-root|add-wants|add-requires)( |$)/,
      'settings',
      CHANGES_SETTINGS,
    ],
  ],
  terraform: [[/^(login|logout)( |$)/, 'credentials', SHOWS_LOGIN]],
}

export function builtInRefusal(reading: Reading, call: Call, facts: CallFacts): Refusal | undefined {
  const shown = showCall(call)
  const never = (rule: string, why: string): Refusal => ({
    reason: `\`${shown}\` may never run, at no tier: ${why}. Do without it, or ask a person.`,
    rule,
  })
  const { program } = reading
  if (program === 'reprise') return never('reprise', 'an agent does not control Reprise')
  const early = earlyOption(reading)
  if (early !== undefined)
    return never(
      'options',
      `${early} stands before the sub-command, so it is not certain what that is; put it behind`,
    )
  const sub = reading.words.slice(0, 4).join(' ')
  for (const [form, rule, why] of Object.hasOwn(SUB_COMMANDS, program) ? (SUB_COMMANDS[program] ?? []) : [])
    if (form.test(sub)) return never(rule, why)
  switch (program) {
    case 'docker':
      return containerRefusal(reading, shown, call.cwd, facts)
    case 'git':
      return gitRefusal(reading, shown, call.cwd, facts)
    case 'systemctl':
      return /^(re)?enable$|^preset$|^mask$/.test(reading.words[0] ?? '') && reading.words.some(isOwnUnit)
        ? never('settings', 'it names a unit by its path; name a unit that is installed')
        : undefined
    case 'service':
      return call.args.some((arg) => arg.includes('/'))
        ? never('options', 'it names a service by a path; name one that is installed')
        : undefined
    case 'ssh':
      return sshRefusal(reading, never)
    case 'kubectl':
      if (/^cp( |$)/.test(sub)) {
        if (!(reading.words.at(-1) ?? '').includes(':')) return never('output', WRITES_FILES)
        const source = reading.words.find((word) => holdsHidden(word, call.cwd, facts))
        if (source !== undefined) return never('hidden', `${source} is hidden, or something in it`)
      }
      return sub.startsWith('config view') && reading.args.some((arg) => /^--(raw|flatten)/.test(arg))
        ? never('credentials', SHOWS_LOGIN)
        : undefined
    case 'gh':
      if (
        /^repo (create|new|fork)( |$)/.test(sub) &&
        call.args.some((arg) => /^(-s|-c|--source|--push|--clone|--remote)/.test(arg))
      )
        return never('options', 'it would start git in a repository of yours; use git for that')
      return sub.startsWith('auth status') &&
        (hasOption(reading, '-t', '--show-token') || reading.unknown.length > 0)
        ? never('credentials', SHOWS_LOGIN)
        : undefined
    default:
      return undefined
  }
}

/** Programs with sub-commands, and groups of those of which some change settings. */
const WITH_SUB_COMMANDS = new Set(['kubectl', 'helm', 'gh', 'tea', 'systemctl', 'terraform'])
const GROUPS = /^(kubectl (config|plugin|auth|rollout)|helm (plugin|repo|get)|gh (?!api)\w+)$/

/** An option before the sub-command, of a program for which that matters. */
function earlyOption(reading: Reading): string | undefined {
  const { program, words } = reading
  if (!WITH_SUB_COMMANDS.has(program) || words.length === 0) return undefined
  return uncertainOption(reading, GROUPS.test(`${program} ${words[0]}`) ? 2 : 1)
}

/** A unit that is named by its path is installed from there, unless that is where the system keeps units. */
const isOwnUnit = (unit: string) =>
  unit.includes('/') && !/^\/(etc|usr\/lib|lib)\/systemd\/system\/[\w@.:-]+$/.test(unit)

/** Settings of ssh that start nothing on this host and load nothing. */
const SSH_SETTINGS =
  /^\s*(BatchMode|ConnectTimeout|ConnectionAttempts|StrictHostKeyChecking|LogLevel|ServerAliveInterval|ServerAliveCountMax|PasswordAuthentication|KbdInteractiveAuthentication|PubkeyAuthentication|PreferredAuthentications|NumberOfPasswordPrompts|IdentitiesOnly|IdentityFile|Port|User|HostName|Compression|TCPKeepAlive|RequestTTY|AddressFamily|HostKeyAlias|CheckHostIP|HostKeyAlgorithms|PubkeyAcceptedKeyTypes|PubkeyAcceptedAlgorithms|KexAlgorithms|Ciphers|MACs|UpdateHostKeys|ProxyJump)[\s=]/i

function sshRefusal(reading: Reading, never: (rule: string, why: string) => Refusal): Refusal | undefined {
  if (reading.unknown.length > 0)
    return never('options', `${reading.unknown[0]?.text} is not an option of ssh that is known`)
  const setting = optionValues(reading, '-o').find(
    (text) =>
      !SSH_SETTINGS.test(text) &&
      !/^\s*(Global|User)KnownHostsFile[\s=]+\/dev\/null$/i.test(text) &&
      // What git adds to ask for a newer protocol.
      text !== 'SendEnv=GIT_PROTOCOL',
  )
  if (setting !== undefined)
    return never('options', `the setting ${setting} may start something on this host, or load a file`)
  if (hasOption(reading, '-A', '-K', '-X', '-Y', '-w'))
    return never('credentials', 'it lends the login or the screen of the user to the other host')
  const forward = optionValues(reading, '-L', '-R', '-D', '-W').find((text) => text.includes('/'))
  if (forward !== undefined) return never('options', `${forward} forwards a socket of this host`)
  return undefined
}
