/**
 * Files that are named by arguments. What the agent could have written must not decide what runs outside of its sandbox,
 * and what is hidden from it must not be read for it.
 *
 * - `config`: it makes the program start others, or holds its credentials. Refused at every tier if the agent could have
 *   written it.
 * - `input`: it says what the program does. Refused at tiers with an `allow` list if the agent could have written it.
 * - `data`: its content is sent somewhere. Refused at tiers with an `allow` list if the agent could have written it: between the check and
 *   the program it could become a link to something hidden.
 * - `output`: it is written, with the rights of the user. Refused, as standard output does the same.
 * - `folder`: something is written into it. Refused if the agent itself could not write there.
 * - `key`: used to log in, and never shown. It may be hidden.
 * - `command`: the value itself is a command for this host. Refused at every tier.
 * - `place`: where the program sends what it does, with the login of the user. Refused at every tier.
 *
 * Other files are data, such as the text of a message, and may be anything that is not hidden. So is the context of
 * `docker build`: what it says runs in containers, without mounts of the host.
 */
import type { GivenOption, Reading } from './arguments.ts'
import { type Call, type CallFacts, placesOf, type Refusal, showCall, someAgentCanWrite } from './call.ts'

type FileKind = 'config' | 'input' | 'data' | 'output' | 'folder' | 'key' | 'command' | 'place'

/** By program, kind and options. */
const FILES: Record<string, Partial<Record<FileKind, string>>> = {
  docker: {
    config: '--config',
    key: '--tlscacert --tlscert --tlskey',
    output: '--cidfile --iidfile --metadata-file',
  },
  'docker save': { output: '-o --output' },
  'docker image save': { output: '-o --output' },
  'docker export': { output: '-o --output' },
  'docker container export': { output: '-o --output' },
  'docker compose config': { output: '-o --output' },
  'docker compose convert': { output: '-o --output' },
  'docker compose export': { output: '-o --output' },
  'docker build': { output: '-o --output --cache-to' },
  'docker image build': { output: '-o --output --cache-to' },
  'docker buildx build': { output: '-o --output --cache-to' },
  kubectl: {
    config: '--kubeconfig --kuberc',
    input: '-f --filename -k --kustomize --from-file --from-env-file --patch-file',
    output: '--profile-output --output-directory',
    folder: '--cache-dir',
    key: '--certificate-authority --client-certificate --client-key',
    place: '-s --server',
  },
  'kubectl kustomize': { output: '-o --output' },
  helm: {
    config: '--kubeconfig --registry-config --repository-config --repository-cache --content-cache',
    command: '--post-renderer --post-renderer-args',
    input: '-f --values --set-file',
    folder: '--destination --untardir --output-dir',
    key: '--keyring --ca-file --cert-file --key-file --kube-ca-file',
    place: '--kube-apiserver',
  },
  'helm pull': { folder: '-d' },
  'helm package': { folder: '-d' },
  systemctl: { config: '--root --image' },
  ssh: { config: '-F -I', key: '-i', output: '-E -S' },
  apprise: {
    config: '-P --plugin-path',
    input: '-c --config',
    data: '-a --attach',
    folder: '-S --storage-path',
  },
  terraform: {
    input: '--chdir --var-file --backend-config --plugin-dir --from-module --state',
    folder: '--out --state-out --backup --generate-config-out',
  },
  ansible: { input: '-i --inventory --inventory-file -e --extra-vars -M --module-path', output: '-t --tree' },
  'ansible-playbook': {
    input:
      '-i --inventory --inventory-file -e --extra-vars -M --module-path --vault-id --vault-password-file --vault-pass-file --become-password-file --become-pass-file --connection-password-file --conn-pass-file',
    key: '--private-key --key-file',
    command: '--ssh-common-args --ssh-extra-args --sftp-extra-args --scp-extra-args',
  },
  gh: { data: '--body-file --notes-file --input', folder: '-D --dir' },
  'gh pr': { data: '-F' },
  'gh issue': { data: '-F' },
  'gh release': { data: '-F' },
}

const KINDS: ReadonlyMap<string, ReadonlyMap<string, FileKind>> = new Map(
  Object.entries(FILES).map(([command, kinds]) => [
    command,
    new Map(
      Object.entries(kinds).flatMap(([kind, list]) =>
        list.split(' ').map((name) => [name, kind as FileKind]),
      ),
    ),
  ]),
)

function kindOf({ program, words }: Reading, { name }: GivenOption): FileKind | undefined {
  for (let depth = 2; depth >= 0; depth--) {
    const kind = KINDS.get([program, ...words.slice(0, depth)].join(' '))?.get(name)
    if (kind) return kind
  }
  return undefined
}

/** Files that are named by words, or found without being named: `helm upgrade web ./chart`, ansible.cfg. */
function impliedInputs({ program, words, options }: Reading, { cwd }: Call, facts: CallFacts): string[] {
  const isPath = (word: string) =>
    /[/.]/.test(word[0] ?? '') || facts.exists(placesOf(word, cwd, facts)[0] ?? word)
  switch (program) {
    case 'ansible':
      return ['ansible.cfg']
    case 'ansible-playbook':
      return ['ansible.cfg', ...words]
    case 'terraform':
      return options.some(({ name }) => name === '--chdir')
        ? words.slice(1).filter(isPath)
        : ['.', ...words.slice(1).filter(isPath)]
    case 'helm':
      return words.slice(1).filter(isPath)
    case 'systemctl':
      return words.slice(1).filter((word) => word.includes('/'))
    default:
      return []
  }
}

/** The path in a value: `key=path`, `@path`. */
const pathIn = (value: string) => value.replace(/^[\w.-]+=(?=.)/, '').replace(/^@/, '')

/** `looks`: the call only looks, so it does nothing that an unnamed file could say. */
export function fileRefusal(
  reading: Reading,
  call: Call,
  { restricts, looks }: { restricts: boolean; looks: boolean },
  facts: CallFacts,
): Refusal | undefined {
  const shown = showCall(call)
  const refuse = (rule: string, why: string, advice: string): Refusal => ({
    reason: `\`${shown}\` is refused: ${why}. ${advice}`,
    rule,
  })
  const written = (path: string) => someAgentCanWrite(path, call.cwd, facts)
  const ownInput = (path: string) =>
    refuse(
      'agent-written',
      `${path} says what it does, and you could have written it`,
      'Recommend escalation, or ask a person.',
    )
  for (const option of reading.options) {
    const { name, value } = option
    if (value === undefined) continue
    const path = pathIn(value)
    switch (kindOf(reading, option)) {
      case 'command':
        return refuse(
          'options',
          `${name} names a command that would be started on this host`,
          'Leave it out.',
        )
      case 'place':
        return refuse('options', `with ${name} the login would be sent to another place`, 'Leave it out.')
      case 'config':
        if (written(path))
          return refuse(
            'agent-written',
            `${name} names ${path}, which you could have written`,
            'Leave it out.',
          )
        break
      case 'output':
        if (!/^(-|none|type=(docker|image|registry|inline|gha).*)?$/.test(value))
          return refuse(
            'output',
            `${name} would write ${path} with rights that you do not have`,
            'Use standard output.',
          )
        break
      case 'folder':
        if (!placesOf(path, call.cwd, facts).every(facts.agentCanWrite))
          return refuse(
            'output',
            `${name} would write into ${path}, where you may not write`,
            'Name another folder.',
          )
        break
      case 'data':
        if (restricts && value !== '-' && !isAddress(value) && written(path))
          return refuse(
            'agent-written',
            `${path} could become another file before it is read`,
            'Give the text itself, or standard input.',
          )
        break
      case 'input':
        if (!restricts || isAddress(value)) break
        if (value === '-' || written(path)) return ownInput(value === '-' ? 'standard input' : path)
        break
      default:
    }
  }
  if (!restricts || looks) return undefined
  const implied = impliedInputs(reading, call, facts).find(written)
  return implied === undefined ? undefined : ownInput(implied)
}

const isAddress = (value: string) => /^(https?|oci):\/\//.test(value)

/** Linux has no longer paths, and no argument that names one has more parts. */
const LONGEST_PATH = 8192
const MOST_PARTS = 64
const MOST_PATHS = 20_000

/** An argument that leads to something hidden, whatever it is used for. */
export function hiddenRefusal(reading: Reading, call: Call, facts: CallFacts): Refusal | undefined {
  const keys = new Set(
    reading.options.flatMap((option) => (kindOf(reading, option) === 'key' ? [option.index] : [])),
  )
  const values = reading.options.flatMap(({ value, index }) => (value && !keys.has(index) ? [value] : []))
  const own = reading.args.slice(0, reading.own).filter((_, index) => !keys.has(index))
  const parts = new Set([...own, ...values].flatMap(partsOf))
  if (parts.size > MOST_PATHS) throw new Error('it may name too many paths')
  for (const part of parts) {
    const hidden = placesOf(part, call.cwd, facts).find(facts.isHidden)
    if (hidden === undefined) continue
    return {
      reason: `\`${showCall(call)}\` may never run: ${part} leads to ${hidden}, which is hidden. Do without it, or ask a person.`,
      rule: 'hidden',
    }
  }
  return undefined
}

/** The texts in an argument that may be paths: `--from-file=key=path`, `type=bind,src=path`, `@path`, `-fpath`. */
function partsOf(arg: string): string[] {
  if (arg.length > LONGEST_PATH) return []
  const sign = arg.indexOf('=')
  const parts = arg.split(/[=,@#]/, MOST_PARTS)
  if (sign !== -1) parts.push(arg.slice(sign + 1).replace(/^@/, ''))
  if (!arg.startsWith('-')) parts.push(arg.replace(/^@/, ''))
  else if (arg.includes('/')) parts.push(arg.slice(arg.indexOf('/')))
  return parts.filter((part) => part !== '')
}
