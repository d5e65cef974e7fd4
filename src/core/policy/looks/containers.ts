/** docker, podman, kubectl and helm: which calls only look. */
import type { Field } from '../command.ts'
import { givenOptions, optionList } from '../given-options.ts'
import { steers } from '../steering.ts'

const words = (text: string) => new Set(text.split(' '))
const byName = (table: Record<string, ReadonlySet<string>>) => new Map(Object.entries(table))

const DOCKER_GLOBAL = optionList('-Dv -c: -l: --context= --log-level= --debug --version')
const PODMAN_GLOBAL = optionList('-v --log-level= --version')
const COMPOSE_GLOBAL = optionList(
  '-f: -p: -v --file= --project-name= --profile= --env-file= --project-directory= --ansi= --progress= --parallel= --compatibility --all-resources --version',
)

/** No option of these writes or starts anything. */
const DOCKER = words('ps logs inspect stats top version info images port diff events search history')
const MANAGED = byName({
  container: words('ls list ps inspect logs top stats port diff'),
  image: words('ls list inspect history'),
  network: words('ls list inspect'),
  volume: words('ls list inspect'),
  context: words('ls list inspect show'),
  node: words('ls list ps inspect'),
  service: words('ls list ps logs inspect'),
  stack: words('ls list ps services'),
  plugin: words('ls list inspect'),
  secret: words('ls list inspect'),
  config: words('ls list inspect'),
  system: words('df info events'),
  buildx: words('ls du version'),
  manifest: words('inspect'),
  pod: words('ps ls list inspect logs top stats'),
  machine: words('ls list inspect info'),
})
const COMPOSE = words('ps logs ls images top version port events stats volumes')
const COMPOSE_CONFIG = optionList(
  '-q --quiet --services --volumes --images --profiles --networks --models --hash= --format= --no-interpolate --no-normalize --no-path-resolution --no-consistency --environment --variables --resolve-image-digests',
)
/** podman takes its global options everywhere. */
const PODMAN_OPTIONS = optionList(
  '-aqltsf -n: --all --quiet --latest --size --filter= --format= --no-trunc --notruncate --tail= --since= --until= --follow --timestamps --names --color --type= --no-stream --noheading --digests --sort= --pod --ns --last= --human --verbose --no-reset --interval=',
)
const EXEC = optionList(
  '-itTd -u: -w: -e: --interactive --tty --no-TTY --user= --workdir= --env= --detach --index= --detach-keys=',
)

export function dockerLooks(fields: readonly Field[], podman = false): boolean {
  const global = givenOptions(fields, podman ? PODMAN_GLOBAL : DOCKER_GLOBAL, { leading: true })
  if (!global) return false
  const [first] = global.operands
  if (!first) return global.options.length > 0 || fields.length === 0
  if (first.text === 'compose') return composeLooks(global.rest)
  if (podman && first.text !== 'exec' && !givenOptions(global.rest, PODMAN_OPTIONS, { trusting: true }))
    return false
  const [second] = global.rest
  if (first.text === 'exec') return execLooks(global.rest)
  if (first.text === 'container' && second?.text === 'exec') return execLooks(global.rest.slice(1))
  if (DOCKER.has(first.text)) return true
  return !!MANAGED.get(first.text)?.has(second?.text ?? '')
}

export function composeLooks(fields: readonly Field[]): boolean {
  const given = givenOptions(fields, COMPOSE_GLOBAL, { leading: true })
  const verb = given?.operands[0]?.text
  if (!given) return false
  if (verb === undefined) return true
  if (verb === 'exec') return execLooks(given.rest)
  if (verb === 'config' || verb === 'convert') return !!givenOptions(given.rest, COMPOSE_CONFIG)
  return COMPOSE.has(verb)
}

/** What it starts inside is a command of its own. */
function execLooks(fields: readonly Field[]): boolean {
  const given = givenOptions(fields, EXEC, { leading: true, trusting: true })
  return !!given?.options.every(({ name, value }) => {
    if (name !== '-e' && name !== '--env') return true
    const [, variable = '', text = ''] = /^(\w+)=?(.*)$/s.exec(value?.text ?? '') ?? []
    return !steers(variable, { value: text, given: true })
  })
}

const KUBECTL_GLOBAL = '-n: -v: --namespace= --context= --cluster= --request-timeout='
const KUBECTL_BEFORE = optionList(KUBECTL_GLOBAL)
const KUBECTL_AFTER = `${KUBECTL_GLOBAL} -Awp -o: -l: -c: -L: --output= --selector= --all-namespaces --watch? --watch-only? --show-labels? --field-selector= --sort-by= --no-headers? --since= --since-time= --tail= --timestamps? --follow? --container= --all-containers? --all-pods? --previous? --prefix? --max-log-requests= --containers? --show-kind? --label-columns= --ignore-not-found? --ignore-errors? --chunk-size= --limit-bytes= --client? --short? --recursive? --api-version= --api-group= --namespaced? --verbs= --categories= --output-watch-events? --show-events? --for= --types= --subresource= --show-managed-fields? --show-capacity? --sum? --use-protocol-buffers? --timeout= --revision= --minify? --quiet? --list? --cached? --raw= --all?`
const KUBECTL_GET = optionList(KUBECTL_AFTER, '-f: -R --filename=')
const KUBECTL_LOGS = optionList(KUBECTL_AFTER, '-f')
const KUBECTL = words(
  'get describe logs top version explain api-resources api-versions cluster-info events wait diff',
)
const KUBECTL_GROUPS = byName({
  config: words('view get-contexts get-clusters get-users current-context'),
  rollout: words('status history'),
  auth: words('can-i whoami'),
})

export function kubectlLooks(fields: readonly Field[]): boolean {
  const before = givenOptions(fields, KUBECTL_BEFORE, { leading: true })
  const verb = before?.operands[0]?.text
  if (!before || verb === undefined) return !!before && fields.length === 0
  if (verb === 'exec') return kubectlExecLooks(before.rest)
  const after = givenOptions(before.rest, verb === 'logs' ? KUBECTL_LOGS : KUBECTL_GET)
  if (!after) return false
  if (KUBECTL.has(verb)) return verb !== 'cluster-info' || after.operands.length === 0
  return !!KUBECTL_GROUPS.get(verb)?.has(after.operands[0]?.text ?? '')
}

const KUBECTL_EXEC = optionList(KUBECTL_GLOBAL, '-itq -c: --container= --stdin? --tty? --quiet?')

/** What it starts inside is a command of its own, if it is certain where that begins. */
function kubectlExecLooks(fields: readonly Field[]): boolean {
  const dashes = fields.findIndex(({ text }) => text === '--')
  return dashes !== -1 && givenOptions(fields.slice(0, dashes), KUBECTL_EXEC)?.operands.length === 1
}

const HELM_GLOBAL = '-n: --namespace= --kube-context= --debug'
const HELM_BEFORE = optionList(HELM_GLOBAL)
const HELM_AFTER = optionList(
  HELM_GLOBAL,
  '-Aaqdr -o: -l: -m: -f: -s: --all-namespaces --all --short --output= --filter= --selector= --max= --offset= --deployed --failed --pending --uninstalled --uninstalling --superseded --date --reverse --revision= --show-resources --show-desc --time-format= --no-headers --template= --version= --versions --regexp -k --keyring= --devel --values= --set= --set-string= --set-json= --show-only= --include-crds --no-hooks --skip-tests --skip-crds --strict --quiet --kube-version= --api-versions= --is-upgrade --max-col-width= --fail-on-no-result --list-repo-url --endpoint= --client',
)
const HELM = words('list ls status history get show search template lint version env')

export function helmLooks(fields: readonly Field[]): boolean {
  const before = givenOptions(fields, HELM_BEFORE, { leading: true })
  const verb = before?.operands[0]?.text
  return (
    !!before && verb !== undefined && HELM.has(verb) && givenOptions(before.rest, HELM_AFTER) !== undefined
  )
}
