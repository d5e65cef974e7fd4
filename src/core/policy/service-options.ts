/** What is known of the options of the commands that have a cooldown. */
import { literal } from './command.ts'
import { valueOptions } from './options.ts'

export interface KnownOptions {
  /** They take the next word as their value. */
  values: ReadonlySet<string>
  /** They take none. */
  flags: ReadonlySet<string>
  /** With one of these the command only says what it would do. */
  rehearsing: ReadonlySet<string>
}

const HELM_VALUES =
  '-f --values --set --set-string --set-file --set-json --set-literal --version --timeout --repo --history-max --description --name-template --username --password --ca-file --cert-file --key-file --keyring --post-renderer --post-renderer-args -o --output -l --labels'

/** By program, or program with sub-command. */
type Options = ReadonlyMap<string, string>
const byName = (table: Record<string, string>): Options => new Map(Object.entries(table))

const VALUES: Options = byName({
  'docker restart': '-t --time --timeout -s --signal',
  'docker container restart': '-t --time --timeout -s --signal',
  'docker compose restart': '-t --timeout',
  'docker compose up':
    '-t --timeout --scale --pull --wait-timeout --attach --no-attach --exit-code-from --ui',
  'docker service update':
    '--image --args --env-add --env-rm --replicas --label-add --label-rm --mount-add --mount-rm --publish-add --publish-rm --constraint-add --constraint-rm --limit-cpu --limit-memory --reserve-cpu --reserve-memory --update-delay --update-parallelism --update-order --update-failure-action --config-add --config-rm --secret-add --secret-rm --network-add --network-rm -u --user -w --workdir --hostname --stop-signal --stop-grace-period',
  'docker stack deploy': '-c --compose-file --orchestrator --resolve-image',
  systemctl: '--job-mode --message --when',
  'kubectl rollout restart':
    '-f --filename -l --selector -k --kustomize -o --output --field-manager --template',
  'helm upgrade': HELM_VALUES,
  'helm install': HELM_VALUES,
  'helm rollback': '--timeout --history-max',
  'ansible-playbook':
    '-i --inventory --inventory-file -e --extra-vars -l --limit -t --tags --skip-tags -u --user -f --forks -c --connection -M --module-path -T --timeout --vault-id --vault-password-file --vault-pass-file --private-key --key-file --start-at-task --become-user --become-method --become-password-file --connection-password-file --ssh-common-args --ssh-extra-args --sftp-extra-args --scp-extra-args',
})

const FLAGS: Options = byName({
  helm: '--install -i --wait --wait-for-jobs --atomic --force --dry-run --debug --reuse-values --reset-values --reset-then-reuse-values --create-namespace --cleanup-on-fail --devel --no-hooks --skip-crds --verify --dependency-update --take-ownership --replace --generate-name -g --recreate-pods --disable-openapi-validation --insecure-skip-tls-verify --pass-credentials --render-subchart-notes',
  docker: '-d --detach --build --force-recreate --no-deps --remove-orphans --wait --quiet-pull -D --debug',
  'ansible-playbook':
    '-b --become -K --ask-become-pass -k --ask-pass -D --diff -v -vv -vvv -vvvv --step --flush-cache',
})

const REHEARSING: Options = byName({
  docker: '--dry-run --help',
  podman: '--help',
  systemctl: '--help',
  kubectl: '--dry-run=client --dry-run=server --help',
  helm: '--dry-run --dry-run=client --dry-run=server --help',
  'ansible-playbook': '--check -C --syntax-check --list-hosts --list-tasks --list-tags --help --version',
})

export function knownOptions(program: string, sub: readonly string[]): KnownOptions {
  const alike = program === 'podman' ? 'docker' : program
  const command = [alike, ...sub].join(' ')
  const of = (table: Options) =>
    [table.get(alike), table.get(command)].flatMap((list) => list?.split(' ') ?? [])
  return {
    values: new Set([...of(VALUES), ...valueOptions(alike, sub.map(literal))]),
    flags: new Set(of(FLAGS)),
    rehearsing: new Set(REHEARSING.get(program)?.split(' ')),
  }
}
