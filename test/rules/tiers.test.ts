import { describe, expect, test } from 'vitest'
import { ask, verdict } from './world.ts'

describe('what only looks is allowed at tier 1', () => {
  test.each([
    'docker ps -a',
    'docker ps --filter name=prune',
    'docker logs --tail 50 jellyfin',
    'docker inspect system',
    'docker system df',
    'docker stats --no-stream',
    'docker --context remote ps',
    '/usr/bin/docker ps',
    'podman ps',
    'docker compose ls',
    'docker exec c ls /',
    'docker exec -it -u root -w /app -e TERM=dumb c ls',
    'docker top web -eo pid,cmd',
    'kubectl -n x get pods -A -o wide --field-selector=status.phase!=Running',
    'kubectl -n x logs -f deploy/web --tail=100 --since=1h -c app --timestamps',
    'kubectl get --raw /healthz',
    'kubectl rollout status deploy/x --timeout=60s',
    'kubectl config view',
    'kubectl exec -it pod -c x -- cat /etc/hosts',
    'helm -n x get values web -o yaml',
    'systemctl status docker',
    'systemctl --user status web --no-pager -l -n 50',
    'systemctl list-units --type=service --state=failed --no-pager',
    'systemctl show -p ActiveState,SubState --value docker',
    'systemctl --failed',
    'service docker status',
    'gh pr list --state open --json number,title --limit 5',
    'gh run view 123 --log-failed',
    'gh api repos/o/r/issues',
    'git ls-remote --heads origin',
    'git fetch origin',
    'ssh host docker ps',
    'ssh -o SendEnv=GIT_PROTOCOL git@host "git-upload-pack \'team/app.git\'"',
    'ssh -p 22 h -l me -- uptime',
    'ssh -i ~/.ssh/id -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null host ls',
    'ansible --version',
    'terraform version',
  ])('%s', (command) => {
    expect(verdict('1', command)).toBe('looks')
  })
})

describe('what does more is not', () => {
  test.each([
    ['docker restart x', 'docker'],
    ['docker exec c rm x', 'docker'],
    ['docker exec -e LD_PRELOAD=/x c ls', 'docker'],
    ['docker exec c /tmp/ls', 'docker'],
    ['docker run exec ls', 'docker'],
    ['docker create exec ls', 'docker'],
    ['ssh a ssh b ssh c ssh d ls', 'ssh'],
    ['docker run --rm img ls', 'docker'],
    ['docker --weird x ps', 'options'],
    ['podman ps --url=x', 'options'],
    ['kubectl --wait events delete x', 'options'],
    ['kubectl --made-up get delete pod x', 'options'],
    ['kubectl rollout -R status restart x', 'options'],
    ['helm --wait list uninstall x', 'options'],
    ['kubectl exec pod -- rm x', 'kubectl'],
    ['kubectl exec pod ls', 'kubectl'],
    ['kubectl get pods --made-up', 'kubectl'],
    ['kubectl scale deploy/x --replicas=0', 'kubectl'],
    ['kubectl cluster-info dump', 'kubectl'],
    ['helm rollback web', 'helm'],
    ['systemctl restart x', 'systemctl'],
    ['systemctl -H other status x', 'options'],
    ['service x restart', 'service'],
    ['gh api -X DELETE repos/o/r', 'gh'],
    ['gh api repos/o/r -f name=x', 'gh'],
    ['gh api graphql', 'gh'],
    ['gh api -i -XDELETE repos/o/r', 'gh'],
    ['gh api -iXDELETE repos/o/r', 'gh'],
    ['podman exec -l rm c ls', 'podman'],
    ['gh pr view 1 --web', 'options'],
    ['git fetch origin main:main', 'git'],
    ['git pull', 'git'],
    ['git push', 'git'],
    ['ssh host', 'ssh'],
    ['ssh host rm x', 'ssh'],
    ["ssh host 'ls; rm x'", 'ssh'],
    ["ssh host 'ls $(rm x)'", 'ssh'],
    ['ssh -L 80:h:80 h ls', 'ssh'],
    ['terraform plan', 'agent-written'],
    ['ansible-playbook --check site.yml', 'agent-written'],
    ['apprise -b x json://h', 'apprise'],
  ])('%s', (command, rule) => {
    expect(verdict('1', command)).toBe(rule)
  })
})

describe('tier 2', () => {
  test.each([
    ['docker restart jellyfin', 'allow'],
    ['docker --context remote restart jellyfin', 'allow'],
    ['docker restart -t 5 jellyfin', 'allow'],
    ['podman restart web', 'allow'],
    ['docker container restart x', 'allow'],
    ['systemctl reload-or-restart x', 'allow'],
    ['service x restart', 'allow'],
    ['kubectl -n x rollout restart deploy/web', 'allow'],
    ['kubectl rollout restart deploy/web -n x', 'allow'],
    ['git push', 'allow'],
    ['git -C sub push -u origin fix/force', 'allow'],
    ['git push origin feature/x HEAD:refs/heads/y', 'allow'],
    ['git pull --rebase', 'allow'],
    [`gh pr create --title "Do not rm -rf /" --body 'see docker system prune'`, 'allow'],
    ["apprise -t done -b 'docker compose down was not needed' json://h", 'allow'],
    ['mkdir -p a/b', 'allow'],
    ['sed -i s/a/b/ x', 'allow'],
    ['docker stop x', 'docker'],
    ['docker --weird restart stop x', 'options'],
    ['docker restart --made-up x', 'options'],
    ['podman restart --all', 'options'],
    ['docker run --rm img ls', 'docker'],
    ['docker compose down', 'docker compose down *'],
    ['docker-compose down -v', 'docker compose down *'],
    ['docker compose --profile a -p b down', 'docker compose down *'],
    ['podman compose down', 'docker compose down *'],
    ['nerdctl rm x', 'docker rm *'],
    ['helm -n x upgrade a b', 'helm upgrade *'],
    ['kubectl -n x delete pod y', 'kubectl delete *'],
    ['ansible-playbook site.yml', 'ansible-playbook *'],
    ['ssh host', 'ssh'],
    ['ssh host docker compose down', 'docker compose down *'],
    ['git foo', 'git'],
    ['systemctl -M box restart x', 'options'],
    ['service ../../work/project/x restart', 'options'],
    ['kubectl --wait rollout restart deploy/x', 'options'],
    ['docker pull -q x', 'allow'],
    ['systemctl --mach=box restart x', 'options'],
    ['gh pr create --title x --web', 'options'],
    ['make deploy', 'make'],
  ])('%s: %s', (command, expected) => {
    expect(verdict('2', command)).toBe(expected)
  })
})

describe('tier 3, and no tier', () => {
  test.each([
    ['docker compose down', 'allow', { cwd: '/srv/app', files: { '/srv/app/compose.yaml': '' } }],
    ['ansible-playbook playbooks/x.yml', 'allow', {}],
    ['helm upgrade x y', 'allow', {}],
    ['terraform apply -auto-approve', 'allow', {}],
    ['docker image prune -f', 'allow', {}],
    ['docker volume ls', 'looks', {}],
    ['docker build -t x .', 'allow', {}],
    ['kubectl constructor valueOf', 'allow', {}],
    ['docker constructor valueOf', 'options', {}],
    ['kubectl apply -f x.yaml', 'allow', {}],
    ['systemctl enable /etc/systemd/system/x.service', 'allow', {}],
    ["ssh -o ConnectTimeout=5 h 'systemctl stop x'", 'allow', {}],
  ])('%s: %s', (command, expected, world) => {
    expect(verdict('3', command, world)).toBe(expected)
    expect(verdict('-', command, world)).toBe(expected)
  })
})

describe('reasons tell the agent what to do', () => {
  test.each([
    [
      '1',
      'docker restart x',
      /is not allowed at tier observe: it does not merely look, and no rule allows it\. Recommend escalation/,
    ],
    ['2', 'docker stop x', /Of docker it may: docker restart \*, docker start \*/],
    [
      '2',
      'helm upgrade a b',
      /may not run at tier safe-remediation \(rule: helm upgrade \*\)\. Recommend escalation/,
    ],
    [
      '3',
      'docker system prune',
      /may never run, at no tier \(rule: docker system prune \*\)\. Do without it, or ask a person/,
    ],
    [
      '3',
      'docker run --privileged x',
      /may never run, at no tier: a privileged container has all rights on the host/,
    ],
    [
      '2',
      'docker compose up -d web',
      /you could have written it\. Run it in the folder of a compose file that you cannot write/,
    ],
  ])('tier %s: %s', (tier, command, reason) => {
    expect(ask(tier, command)).toMatchObject({ decision: 'deny', reason: expect.stringMatching(reason) })
  })
})

describe('a dry run', () => {
  test('refuses what would change something, and says that it would have been allowed', () => {
    expect(ask('2', 'docker restart x', { dryRun: true })).toEqual({
      decision: 'deny',
      rule: 'dry-run',
      dryRun: true,
      reason: expect.stringMatching(
        /^This is a dry run.*`docker restart x` would have been allowed at tier safe-remediation/,
      ),
    })
    expect(ask('-', 'docker rm x', { dryRun: true })).toMatchObject({
      rule: 'dry-run',
      reason: expect.stringContaining('would have been allowed at the policy'),
    })
  })

  test('lets looking pass, and refuses by the rules what they refuse', () => {
    expect(verdict('1', 'docker ps', { dryRun: true })).toBe('looks')
    const refused = ask('3', 'docker system prune', { dryRun: true })
    expect(refused).toMatchObject({ decision: 'deny', rule: 'docker system prune *' })
    expect(refused).not.toHaveProperty('dryRun')
  })
})
