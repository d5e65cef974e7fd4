/**
 * Files that are named by arguments. What the agent could have written must not decide what runs outside of its sandbox,
 * and what is hidden from it must not be read for it.
 *
 * - `config`: it makes the program start others, or holds its credentials. Refused at every tier if the agent could have
 *   written it.
 * - `input`: it says what the program does. Refused at tiers with an `allow` list if the agent could have written it.
 * - `data`: its content is sent somewhere. Refused at tiers with an `allow` list if the agent could have written it: between the check and
 *   the program it could become a link to something hidden. At other tiers a copy is used (copied-files.ts).
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

export type FileKind = 'config' | 'input' | 'data' | 'output' | 'folder' | 'key' | 'command' | 'place'

/** By program, kind and options. */
const FILES: Record<string, Partial<Record<FileKind, string>>> = {
  docker: {
    config: '--config',
    key: '--tlscacert --tlscert --tlskey',
    output: '--cidfile --iidfile --metadata-file',
  },
  ...Object.fromEntries(
    ['run', 'create', 'exec', 'container run', 'container create', 'container exec'].map((sub) => [
      `docker ${sub}`,
      { data: '--env-file --label-file' },
    ]),
  ),
  'docker load': { data: '-i --input' },
  'docker image load': { data: '-i --input' },
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

export function kindOf({ program, words }: Reading, { name, value }: GivenOption): FileKind | undefined {
  // `gh api -F body=@file` sends the file, `-F title=text` the text.
  if (program === 'gh' && words[0] === 'api' && /^(-F|--field)$/.test(name))
    return /^[^=]*=@/.test(value ?? '') ? 'data' : undefined
  for (let depth = 2; depth >= 0; depth--) {
    const kind = KINDS.get([program, ...words.slice(0, depth)].join(' '))?.get(name)
    if (kind) return kind
  }
  return undefined
}

/** The path in a value: `key=path`, `@path`. */
export const pathIn = (value: string) => value.replace(/^[\w.-]+=(?=.)/, '').replace(/^@/, '')

export const isAddress = (value: string) => /^(https?|oci):\/\//.test(value)
