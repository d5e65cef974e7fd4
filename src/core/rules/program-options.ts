/**
 * The options of programs, as far as the rules must understand them. In the lists `-abc` are flags that may be joined,
 * `-n:` and `--name=` take a value, `--name?` takes one only behind `=`. A table holds for a program, or for a program
 * with a sub-command; the table of the sub-command goes first.
 */

export type OptionKind = 'flag' | 'value' | 'optional'
export type OptionTable = ReadonlyMap<string, OptionKind>

/** How a program reads long options, if not as they are written out. */
export const STYLES: ReadonlyMap<string, 'abbreviates' | 'go'> = new Map([
  ['git', 'abbreviates'],
  ['systemctl', 'abbreviates'],
  ['ansible', 'abbreviates'],
  ['ansible-playbook', 'abbreviates'],
  ['terraform', 'go'],
])

/** After how many operands a command follows that is started elsewhere; `--`: behind that word. */
export const COMMAND_AFTER: ReadonlyMap<string, number | '--'> = new Map<string, number | '--'>([
  ['docker run', 1],
  ['docker create', 1],
  ['docker exec', 1],
  ['docker container run', 1],
  ['docker container create', 1],
  ['docker container exec', 1],
  ['docker compose run', 1],
  ['docker compose exec', 1],
  ['docker service create', 1],
  ['kubectl exec', '--'],
  ['kubectl run', '--'],
  ['kubectl debug', '--'],
  ['ssh', 1],
])

/** Options that may stand before the sub-command, of programs that take any other for one with a value there. */
export const GLOBAL_OPTIONS: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  Object.entries({
    kubectl:
      '-n -s -v --as --as-group --as-uid --cache-dir --certificate-authority --client-certificate --client-key --cluster --context --disable-compression --insecure-skip-tls-verify --kubeconfig --kuberc --namespace --password --profile --profile-output --request-timeout --server --tls-server-name --token --user --username --v --warnings-as-errors',
    helm: '-n --namespace --kube-context --kubeconfig --kube-apiserver --kube-token --kube-ca-file --kube-as-user --kube-as-group --kube-tls-server-name --registry-config --repository-config --repository-cache --content-cache --burst-limit --qps --debug',
    gh: '-R --repo',
  }).map(([program, list]) => [program, new Set(list.split(' '))]),
)

const RUN =
  '-dPiqt --detach --disable-content-trust --help --init --interactive --no-healthcheck --oom-kill-disable --privileged --publish-all --quiet --read-only --rm --sig-proxy --tty --use-api-socket -a: -c: -e: -h: -l: -m: -p: -u: -v: -w: --add-host= --annotation= --attach= --blkio-weight= --blkio-weight-device= --cap-add= --cap-drop= --cgroup-parent= --cgroupns= --cidfile= --cpu-count= --cpu-percent= --cpu-period= --cpu-quota= --cpu-rt-period= --cpu-rt-runtime= --cpu-shares= --cpus= --cpuset-cpus= --cpuset-mems= --detach-keys= --device= --device-cgroup-rule= --device-read-bps= --device-read-iops= --device-write-bps= --device-write-iops= --dns= --dns-option= --dns-search= --domainname= --entrypoint= --env= --env-file= --expose= --gpus= --group-add= --health-cmd= --health-interval= --health-retries= --health-start-interval= --health-start-period= --health-timeout= --hostname= --ip= --ip6= --ipc= --isolation= --kernel-memory= --label= --label-file= --link= --link-local-ip= --log-driver= --log-opt= --mac-address= --memory= --memory-reservation= --memory-swap= --memory-swappiness= --mount= --name= --net= --net-alias= --network= --network-alias= --oom-score-adj= --pid= --pids-limit= --platform= --publish= --pull= --restart= --runtime= --security-opt= --shm-size= --stop-signal= --stop-timeout= --storage-opt= --sysctl= --tmpfs= --ulimit= --user= --userns= --uts= --volume= --volume-driver= --volumes-from= --workdir='
const EXEC =
  '-ditT -e: -u: -w: --detach --interactive --tty --no-TTY --no-tty --privileged --detach-keys= --env= --env-file= --user= --workdir= --index='
const COMPOSE_RUN =
  '-diPqTQ -e: -l: -p: -u: -v: -w: --build --detach --interactive --no-TTY --no-deps --quiet --quiet-build --quiet-pull --remove-orphans --rm --service-ports --use-aliases --cap-add= --cap-drop= --entrypoint= --env= --env-from-file= --label= --name= --publish= --pull= --user= --volume= --workdir='
const COMPOSE_CONFIG =
  '-q -o: --output= --quiet --services --volumes --images --profiles --networks --models --environment --variables --no-interpolate --no-normalize --no-path-resolution --no-consistency --no-env-resolution --resolve-image-digests --lock-image-digests --hash= --format='
const STACK = '-dq -c: --compose-file= --detach? --prune --quiet --resolve-image= --with-registry-auth'
const RESTART = '-t: -s: --time= --timeout= --signal= --no-deps'
const START = '-ai --attach --interactive --detach-keys='
const BUILD =
  '-q -t: -f: -o: -m: -c: --quiet --no-cache --pull --push --load --check --rm --force-rm --squash --compress --debug -D --add-host= --allow= --annotation= --attest= --build-arg= --build-context= --builder= --cache-from= --cache-to= --call= --cgroup-parent= --file= --iidfile= --label= --memory= --metadata-file= --network= --no-cache-filter= --output= --platform= --progress= --provenance= --sbom= --secret= --security-opt= --shm-size= --ssh= --tag= --target= --ulimit='
const PLAYBOOK =
  '-bCDKkhv -i: -e: -l: -t: -u: -f: -c: -M: -T: -J --inventory= --inventory-file= --extra-vars= --limit= --tags= --skip-tags= --user= --forks= --connection= --module-path= --timeout= --vault-id= --vault-password-file= --vault-pass-file= --ask-vault-password --ask-vault-pass --private-key= --key-file= --start-at-task= --become --become-user= --become-method= --become-password-file= --become-pass-file= --connection-password-file= --conn-pass-file= --ask-become-pass --ask-pass --ssh-common-args= --ssh-extra-args= --sftp-extra-args= --scp-extra-args= --check --diff --step --flush-cache --force-handlers --syntax-check --list-hosts --list-tasks --list-tags --verbose --version --help'
const HELM_CHANGE =
  '-i -g --install --wait? --wait-for-jobs --atomic --rollback-on-failure --force --dry-run? --reuse-values --reset-values --reset-then-reuse-values --create-namespace --cleanup-on-fail --devel --no-hooks --skip-crds --verify --dependency-update --take-ownership --replace --generate-name --recreate-pods --disable-openapi-validation --insecure-skip-tls-verify --pass-credentials --render-subchart-notes --hide-secret --enable-dns --plain-http --server-side? -f: -o: -l: --set= --set-string= --set-file= --set-json= --set-literal= --version= --timeout= --repo= --history-max= --description= --name-template= --username= --password= --output= --labels= --post-renderer= --post-renderer-args='

const LISTS: Record<string, string> = {
  docker:
    '-Dv -H: -c: -l: --host= --context= --log-level= --config= --tlscacert= --tlscert= --tlskey= --debug --tls --tlsverify --version --help',
  'docker ps': '-alqs -f: -n: --all --latest --no-trunc --quiet --size --filter= --format= --last=',
  'docker logs': '-ft -n: --details --follow --timestamps --since= --until= --tail=',
  'docker stats': '-a --all --no-stream --no-trunc --format=',
  'docker pull': '-aq --all-tags --quiet --disable-content-trust --platform=',
  'docker restart': RESTART,
  'docker stop': RESTART,
  'docker start': START,
  'docker container start': START,
  'docker run': RUN,
  'docker create': RUN,
  'docker exec': EXEC,
  'docker container run': RUN,
  'docker container create': RUN,
  'docker container exec': EXEC,
  'docker container restart': RESTART,
  'docker cp': '-aLq --archive --follow-link --quiet',
  'docker container cp': '-aLq --archive --follow-link --quiet',
  'docker save': '-o: --output= --platform=',
  'docker image save': '-o: --output= --platform=',
  'docker load': '-q -i: --input= --platform= --quiet',
  'docker image load': '-q -i: --input= --platform= --quiet',
  'docker export': '-o: --output=',
  'docker container export': '-o: --output=',
  'docker build': BUILD,
  'docker image build': BUILD,
  'docker buildx build': BUILD,
  'docker compose':
    '-v -f: -p: --file= --project-name= --profile= --env-file= --project-directory= --parallel= --ansi= --progress= --compatibility --all-resources --verbose --version --dry-run? --help',
  'docker compose up':
    '-dyVw -t: --detach --build --force-recreate --no-deps --no-recreate --no-build --no-start --no-color --no-log-prefix --remove-orphans --renew-anon-volumes --always-recreate-deps --quiet-pull --quiet-build --wait --watch --timestamps --yes --abort-on-container-exit --abort-on-container-failure --attach-dependencies --menu? --timeout= --scale= --pull= --wait-timeout= --attach= --no-attach= --exit-code-from= --ui=',
  'docker compose restart': '-t: --timeout= --no-deps',
  'docker compose start': '--wait --wait-timeout=',
  'docker compose pull': '-q --quiet --include-deps --ignore-buildable --ignore-pull-failures --policy=',
  'docker compose logs':
    '-ft -n: --follow --timestamps --no-color --no-log-prefix --index= --since= --until= --tail=',
  'docker compose ps': '-aq --all --quiet --services --no-trunc --orphans? --filter= --format= --status=',
  'docker compose config': COMPOSE_CONFIG,
  'docker compose convert': COMPOSE_CONFIG,
  'docker compose export': '-o: --output= --index=',
  'docker compose run': COMPOSE_RUN,
  'docker compose exec': EXEC,
  'docker compose cp': '-aL --archive --follow-link --all --index=',
  'docker service update':
    '-dq -u: -w: --detach --quiet --force --rollback --no-resolve-image --with-registry-auth --image= --args= --env-add= --env-rm= --replicas= --label-add= --label-rm= --mount-add= --mount-rm= --publish-add= --publish-rm= --constraint-add= --constraint-rm= --limit-cpu= --limit-memory= --reserve-cpu= --reserve-memory= --update-delay= --update-parallelism= --update-order= --update-failure-action= --config-add= --config-rm= --secret-add= --secret-rm= --network-add= --network-rm= --user= --workdir= --hostname= --stop-signal= --stop-grace-period= --cap-add= --cap-drop=',
  'docker stack deploy': STACK,
  'docker stack up': STACK,
  'docker stack config': STACK,
  'docker volume create': '-d: -o: --driver= --opt= --label= --name=',
  kubectl:
    '-ARiqtw -c: -f: -k: -l: -L: -n: -o: -p: -s: -v: --v= --all? --all-containers? --all-namespaces? --all-pods? --allow-missing-template-keys? --api-group= --api-version= --as= --as-group= --as-uid= --cache-dir= --cached? --cascade? --categories= --certificate-authority= --chunk-size= --client-certificate= --client-key= --client? --cluster= --container= --containers? --context= --disable-compression? --dry-run? --field-manager= --field-selector= --filename= --follow? --for= --force? --from-env-file= --from-file= --from-literal= --grace-period= --ignore-errors? --ignore-not-found? --image= --insecure-skip-tls-verify? --kubeconfig= --kuberc= --kustomize= --label-columns= --limit-bytes= --list? --max-log-requests= --minify? --namespace= --namespaced? --no-headers? --output= --output-watch-events? --patch= --patch-file= --password= --pod-running-timeout= --prefix? --previous? --output-directory= --profile= --profile-output= --prune? --quiet? --raw? --recursive? --replicas= --request-timeout= --restart= --revision= --selector= --server= --server-print? --server-side? --short? --show-capacity? --show-events? --show-kind? --show-labels? --show-managed-fields? --since= --since-time= --sort-by= --stdin? --subresource= --sum? --tail= --template= --timeout= --timestamps? --tls-server-name= --to-revision= --token= --tty? --type= --types= --user= --username= --use-protocol-buffers? --validate? --verbs= --wait? --warnings-as-errors? --watch? --watch-only? --help',
  'kubectl get': '--raw=',
  'kubectl create': '--raw=',
  'kubectl delete': '--raw=',
  'kubectl replace': '--raw=',
  'kubectl logs': '-fp',
  'kubectl exec': '-it',
  'kubectl patch': '-p:',
  helm: `-Aaqdr -n: -m: -s: --namespace= --kube-context= --kubeconfig= --kube-apiserver= --kube-token= --kube-ca-file= --kube-as-user= --kube-as-group= --kube-tls-server-name= --registry-config= --repository-config= --repository-cache= --content-cache= --burst-limit= --qps= --debug --help --all-namespaces --all --short --filter= --selector= --max= --offset= --deployed --failed --pending --uninstalled --uninstalling --superseded --date --reverse --revision= --show-resources --show-desc --time-format= --no-headers --template= --versions --regexp --values= --show-only= --include-crds --skip-tests --strict --quiet --kube-version= --api-versions= --is-upgrade --max-col-width= --fail-on-no-result --list-repo-url --keyring= --ca-file= --cert-file= --key-file= --destination= --untardir= --untar --output-dir= ${HELM_CHANGE}`,
  'helm pull': '-d: --destination=',
  'helm package': '-d: --destination=',
  systemctl:
    '-alqrThf -H: -M: -t: -p: -P: -n: -o: -s: --all --full --quiet --recursive --show-transaction --show-types --force --failed --value --reverse --with-dependencies --now --dry-run --wait --no-block --no-wall --no-reload --no-pager --no-legend --no-ask-password --no-warn --system --user --global --runtime --after --before --plain --read-only --mkdir --marked --firmware-setup --help --version --stdin --drop-in= --host= --machine= --type= --state= --property= --lines= --output= --signal= --root= --image= --image-policy= --job-mode= --check-inhibitors= --kill-whom= --kill-who= --kill-value= --what= --legend= --preset-mode= --boot-loader-menu= --boot-loader-entry= --timestamp= --message= --when=',
  gh: '-R: --repo= --hostname= -L: -q: -t: -s: -S: -a: -l: -A: -B: -H: -b: -m: -r: --json= --jq= --template= --limit= --state= --search= --author= --assignee= --label= --milestone= --base= --head= --title= --body= --body-file= --reviewer= --project= --draft --fill --fill-first --fill-verbose --dry-run --web -w --editor -e --recover= --log --log-failed --job= -j: --attempt= --verbose -v --comments -c --branch= --workflow= --event= --status= --user= --created= --commit= --env= --org= -o: --exit-status --required --watch --interval= -i: --fail-fast --name-only --patch --color= --help --no-maintainer-edit --edit-last --yes -y --delete-branch -d --squash --merge --rebase --auto --admin --method= -X: --field= -F: --raw-field= -f: --header= --input= --paginate --include --silent --slurp --cache= --preview= -p: --type= --owner= --language= --sort= --order= --visibility= --topic= --archived --no-archived --fork --source --exclude-drafts --exclude-pre-releases --notes= -n: --notes-file= --dir= -D: --output= -O: --clobber --show-token --active',
  'gh api':
    '-i -H: -X: -f: -F: -p: -q: -t: --cache= --field= --header= --hostname= --include --input= --jq= --method= --paginate --preview= --raw-field= --silent --slurp --template= --verbose',
  'gh pr create': '-d -f -e -w -F: -T: -p: -r: -a: -l: -m: -t: -b: -B: -H:',
  'gh pr comment': '-e -w -F: -b:',
  'gh issue create': '-e -w -F: -T: -p: -a: -l: -m: -t: -b:',
  'gh issue comment': '-e -w -F: -b:',
  'gh auth status': '-t -a -h:',
  tea: '-l: -r: -R: -o: -p: --login= --repo= --remote= --output= --page= --limit= --state= --fields= -f: --title= -t: --description= -d: --head= --base= -b: --comments --keyword= -k: --author= -A: --assignees= -a: --labels= -L: --milestones= -m: --yes -y --help --version',
  terraform:
    '--chdir= --help --version --json --no-color --raw --state= --state-out= --out= --var= --var-file= --backend-config= --plugin-dir= --target= --replace= --auto-approve --input= --lock= --lock-timeout= --parallelism= --refresh= --refresh-only --destroy --detailed-exitcode --compact-warnings --upgrade --reconfigure --migrate-state --backup= --generate-config-out= --from-module=',
  ansible: `${PLAYBOOK} -m: -a: -o -B: -P: -t: --module-name= --args= --one-line --background= --poll= --tree=`,
  'ansible-playbook': PLAYBOOK,
  apprise:
    '-vdDhV -b: -t: -c: -a: -n: -i: -T: -g: -p: -P: -S: -R: -e -j --body= --title= --config= --attach= --notification-type= --input-format= --theme= --tag= --disable-async --dry-run --details --recursion-depth= --verbose --interpret-escapes --interpret-emojis --debug --plugin-path= --storage-path= --storage-policy= --storage-prune-days= --storage-uid-length= --version --help',
  ssh: '-46AaCfGgKkMNnqsTtVvXxYy -B: -b: -c: -D: -E: -e: -F: -I: -i: -J: -L: -l: -m: -O: -o: -p: -Q: -R: -S: -W: -w:',
  git: '-Pphv -C: -c: --git-dir= --work-tree= --namespace= --exec-path? --config-env= --attr-source= --super-prefix= --no-pager --paginate --no-optional-locks --literal-pathspecs --glob-pathspecs --noglob-pathspecs --icase-pathspecs --bare --no-replace-objects --no-lazy-fetch --no-advice --version --help --html-path --man-path --info-path',
  'git fetch':
    '-apqvtfkun46 -j: -o: --all --append --atomic --depth= --deepen= --shallow-since= --shallow-exclude= --unshallow --update-shallow --negotiation-tip= --dry-run --force --keep --multiple --prune --prune-tags --no-tags --tags --refmap= --recurse-submodules? --no-recurse-submodules --jobs= --set-upstream --update-head-ok --upload-pack= --quiet --verbose --progress --no-progress --server-option= --ipv4 --ipv6 --filter= --porcelain --no-auto-maintenance --no-auto-gc --no-write-fetch-head --write-fetch-head',
  'git ls-remote':
    '-htbq -o: --heads --tags --refs --branches --quiet --exit-code --get-url --symref --sort= --server-option= --upload-pack= --exec=',
  'git clone':
    '-lsnqv -u: -o: -b: -c: -j: --local --no-hardlinks --shared --reference= --reference-if-able= --dissociate --quiet --verbose --progress --no-checkout --bare --mirror --origin= --branch= --upload-pack= --template= --config= --depth= --shallow-since= --shallow-exclude= --single-branch --no-single-branch --no-tags --recurse-submodules? --recursive? --separate-git-dir= --jobs= --filter= --sparse --server-option= --also-filter-submodules --bundle-uri= --ipv4 --ipv6',
  'git pull':
    '-qvnafrt -S? -s: -X: -o: -j: --rebase? --no-rebase --ff --no-ff --ff-only --commit --no-commit --edit --no-edit --squash --no-squash --stat --no-stat --autostash --no-autostash --verify --no-verify --all --tags --no-tags --prune --depth= --unshallow --quiet --verbose --progress --recurse-submodules? --no-recurse-submodules --set-upstream --strategy= --strategy-option= --upload-pack= --allow-unrelated-histories --force --dry-run --jobs= --server-option=',
}

const TABLES: ReadonlyMap<string, OptionTable> = new Map(
  Object.entries(LISTS).map(([command, list]) => [command, tableOf(list)]),
)

function tableOf(list: string): OptionTable {
  const table = new Map<string, OptionKind>()
  for (const word of list.split(/\s+/).filter(Boolean)) {
    const kind = /[:=]$/.test(word) ? 'value' : word.endsWith('?') ? 'optional' : 'flag'
    const name = word.replace(/[:=?]$/, '')
    if (name.startsWith('--')) table.set(name, kind)
    else for (const letter of name.slice(1, -1)) table.set(`-${letter}`, 'flag')
    if (!name.startsWith('--')) table.set(`-${name.at(-1)}`, kind)
  }
  return table
}

/** Programs whose own options stand before the sub-command only. */
const ONLY_BEFORE = new Set(['docker', 'git'])

/** The tables that hold for a program with these sub-commands, the most special first. */
export function optionTables(program: string, words: readonly string[]): OptionTable[] {
  const found: OptionTable[] = []
  const isBehind = ONLY_BEFORE.has(program) && words.length > 0 && words[0] !== 'compose'
  for (let depth = Math.min(2, words.length); depth >= (isBehind ? 1 : 0); depth--) {
    const table = TABLES.get([program, ...words.slice(0, depth)].join(' '))
    if (table) found.push(table)
  }
  return found
}
