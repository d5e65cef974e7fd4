import { describe, expect, test } from 'vitest'
import {
  type Action,
  type CooldownSettings,
  compileCooldowns,
  compileServicePattern,
  decideCooldown,
  type TakenAction,
} from '../../src/core/rules/cooldown.ts'
import { DEFAULT_COOLDOWNS } from '../../src/core/rules/defaults.ts'
import { judgeCall } from '../../src/core/rules/judge.ts'
import { compileRules } from '../../src/core/rules/rules.ts'
import { CWD, factsOf, words } from './world.ts'

const HOUR_MS = 3_600_000
const T0 = new Date('2026-03-01T12:00:00Z')
const at = (hours: number) => new Date(T0.getTime() + hours * HOUR_MS)

/** `restart web`, or with its scope `redeploy web @media`; else the reason of the refusal. */
function found(text: string, cooldowns: Record<string, CooldownSettings> = DEFAULT_COOLDOWNS): string[] {
  const [program = '', ...args] = words(text)
  const files = Object.fromEntries(
    [CWD, '/srv/media', '/work/media'].flatMap((dir) =>
      ['compose.yaml', 'f.yml'].map((name) => [`${dir}/${name}`, 'services: {}']),
    ),
  )
  const rules = compileRules({ never: [], tier: null, cooldowns, dryRun: false })
  const decision = judgeCall({ program, args, cwd: CWD }, rules, factsOf({ files }))
  if (decision.decision === 'deny') return [decision.reason]
  return decision.actions.map(
    ({ rule, service, scope }) => `${rule} ${service}${scope === null ? '' : ` @${scope}`}`,
  )
}

describe('recognised', () => {
  test.each([
    ['docker restart web', 'restart web'],
    ['docker restart a b c', 'restart a', 'restart b', 'restart c'],
    ['docker restart -t 5 web', 'restart web'],
    ['docker restart web --time=5', 'restart web'],
    ['docker restart --unknown a b', 'restart a', 'restart b'],
    ['docker --context remote restart web', 'restart web'],
    ['oc --made-up value rollout restart deploy/web', 'restart deployment/web'],
    ['docker container restart web', 'restart web'],
    ['docker restart /web', 'restart web'],
    ['/usr/bin/docker restart web', 'restart web'],
    ['docker compose restart web', 'restart web @project'],
    ['docker compose restart', 'restart * @project'],
    ['docker-compose up -d web', 'redeploy web @project'],
    ['docker compose -f f.yml up -d web', 'redeploy web @project'],
    ['docker compose -f /srv/media/f.yml up -dt 9 web db', 'redeploy web @media', 'redeploy db @media'],
    ['docker compose -p media up', 'redeploy * @media'],
    ['docker compose --project-directory ../media up --scale web=3 -d', 'redeploy * @media'],
    ['docker service update --image x web', 'restart web'],
    ['podman restart web', 'restart web'],
    ['systemctl restart web', 'restart web'],
    ['systemctl restart web.service db.timer', 'restart web', 'restart db.timer'],
    ['systemctl --user --no-block restart web', 'restart web'],
    ['systemctl --dry-run restart web', 'restart web'],
    ['service web restart', 'restart web'],
    ['kubectl rollout restart deployment/web', 'restart deployment/web'],
    ['kubectl rollout restart deploy web', 'restart deployment/web'],
    [
      'kubectl -n prod rollout restart deployments.apps/web sts/db',
      'restart deployment/web @prod',
      'restart statefulset/db @prod',
    ],
    [
      'kubectl rollout restart deployment web api -n=prod',
      'restart deployment/web @prod',
      'restart deployment/api @prod',
    ],
    ['kubectl rollout restart deployment', 'restart *'],
    ['kubectl rollout restart -l app=web deployment', 'restart *'],
    ['ansible-playbook -i hosts plays/site.yml', 'redeploy site.yml'],
    ['ansible-playbook a.yml -e x=1 b.yml', 'redeploy a.yml', 'redeploy b.yml'],
    ['helm upgrade --install web ./chart -f v.yml', 'redeploy web'],
    ['helm upgrade --set a=b --wait web chart', 'redeploy web'],
    ['helm -n prod rollback web 3', 'redeploy web @prod'],
    ['helm upgrade --made-up x web chart', 'redeploy x', 'redeploy web'],
    ['ssh host docker restart web', 'restart web'],
    ["ssh host 'sudo systemctl restart web; docker restart db'", 'restart web', 'restart db'],
    ["docker exec c sh -c 'systemctl restart web'", 'restart web'],
    ['some-wrapper docker restart web', 'restart web'],
  ])('%s', (text, ...actions) => {
    expect(found(text)).toEqual(actions)
  })

  test.each([
    'docker ps',
    'docker logs restart',
    'docker restart',
    'docker restart --help',
    'docker compose logs -f restart',
    'docker compose --dry-run up -d',
    'systemctl status web',
    'service web status',
    'kubectl rollout status deployment/web',
    'kubectl rollout restart deployment/web --dry-run=client',
    'ansible-playbook --check site.yml',
    'ansible-playbook --syntax-check -i hosts site.yml',
    'helm upgrade web chart --dry-run',
    'helm list',
    'git commit -m "docker restart web"',
    'gh pr create --title x --body "docker restart web"',
  ])('left alone: %s', (text) => {
    expect(found(text)).toEqual([])
  })

  test.each([
    ['docker compose up -d --dry-run=false', 'redeploy * @project'],
    ['helm upgrade --set --dry-run web chart', 'redeploy web'],
    ['helm upgrade --made-up --dry-run web chart', 'redeploy web'],
    ['helm upgrade web chart --dry-run --dry-run=none', 'redeploy web'],
  ])('what only looks like a rehearsal is counted: %s', (text, action) => {
    expect(found(text)).toContain(action)
  })

  test.each([
    'docker restart web-*',
    "systemctl restart 'web*'",
    'docker restart 3f2a9c01b7de',
    "ssh h 'docker restart $X'",
  ])('cannot be counted as it is written: %s', (text) => {
    expect(found(text)).toEqual([expect.stringContaining("Write out the service's name")])
  })
})

describe('patterns', () => {
  const counted = (match: string, text: string) => found(text, { mine: { match: [match], limit: 1, per: 1 } })

  test('the service may stand anywhere, and is one word if others follow', () => {
    expect(counted('tool {service} bounce', 'tool --now web bounce')).toEqual(['mine web'])
    expect(counted('tool bounce {service} *', 'tool bounce web now')).toEqual(['mine web'])
    expect(counted('tool * bounce {service}', 'tool a b bounce web db')).toEqual(['mine web', 'mine db'])
    expect(counted("tool 'bounce it' {service}", "tool 'bounce it' web")).toEqual(['mine web'])
    expect(counted('docker compose up -d {service}', 'docker compose up web --detach')).toEqual([
      'mine web @project',
    ])
    expect(counted('docker compose up -d {service}', 'docker compose up web')).toEqual([])
  })

  test.each([
    ['docker restart', 'put {service} there'],
    ['docker {service} {service}', 'more than once'],
    ['docker restart {name}', '{name} means nothing'],
    ['docker restart x-{service}', 'a word of its own'],
    ['{service} restart', 'a word of its own'],
    ['tool --name={service}', 'a word of its own'],
    ['docker restart {service} | cat', '| means something to a shell'],
    ['', 'it is empty'],
  ])('%s is refused', (source, problem) => {
    expect(compileServicePattern(source)).toMatchObject({
      ok: false,
      problem: expect.stringContaining(problem),
    })
    expect(() => compileCooldowns({ x: { match: [source], limit: 1, per: 1 } })).toThrow(problem)
  })
})

describe('the decision', () => {
  const LIMITS = [
    { name: 'restart', limit: 2, perMs: 4 * HOUR_MS },
    { name: 'redeploy', limit: 1, perMs: 24 * HOUR_MS },
    { name: 'never', limit: 0, perMs: HOUR_MS },
  ]
  const action = (service: string, change: Partial<Action> = {}): Action => ({
    rule: 'restart',
    service,
    scope: null,
    command: `docker restart ${service}`,
    ...change,
  })
  const taken = (service: string, hours: number, change: Partial<TakenAction> = {}): TakenAction => ({
    rule: 'restart',
    service,
    scope: null,
    at: at(hours),
    ...change,
  })
  const decide = (actions: Action[], before: TakenAction[] = []) =>
    decideCooldown(actions, before, LIMITS, T0)

  test('room for all, and all are claimed', () => {
    const actions = [action('a'), action('b'), action('a')]
    expect(decide(actions)).toEqual({ kind: 'allow', claims: actions })
    expect(decide([])).toEqual({ kind: 'allow', claims: [] })
  })

  test('more at once than the limit is never free', () => {
    expect(decide([action('a'), action('a'), action('a')])).toMatchObject({
      kind: 'refuse',
      used: 0,
      freeAt: null,
      reason: expect.stringContaining('more often than allowed by this command alone'),
    })
    expect(decide([action('a', { rule: 'never' })])).toMatchObject({
      freeAt: null,
      reason: expect.stringContaining('not allowed for any service'),
    })
  })

  test('says when it is free, counting what the same text asks besides', () => {
    const before = [taken('a', -1), taken('a', -3), taken('a', -4), taken('b', -1)]
    expect(decide([action('a')], before)).toMatchObject({
      kind: 'refuse',
      rule: 'restart',
      service: 'a',
      used: 2,
      freeAt: at(1),
      reason: expect.stringMatching(
        /twice of late: at most 2 per 4h .* 2026-03-01T13:00:00.000Z \(in 1h\)\. /,
      ),
    })
    expect(decide([action('a'), action('a')], before)).toMatchObject({ freeAt: at(1) })
    expect(decide([action('b'), action('b')], before)).toMatchObject({ used: 1, freeAt: at(3) })
    expect(decide([action('c'), action('a')], before)).toMatchObject({ kind: 'refuse', service: 'a' })
    expect(decide([action('b')], before)).toMatchObject({ kind: 'allow' })
  })

  test('a window is open at its end', () => {
    const before = [taken('a', -4), taken('a', -4)]
    expect(decide([action('a')], before)).toMatchObject({ kind: 'allow' })
  })

  test('each rule counts for itself', () => {
    expect(decide([action('a', { rule: 'redeploy' })], [taken('a', -1), taken('a', -2)])).toMatchObject({
      kind: 'allow',
    })
  })

  test('done to all, it counts for each, and each for all', () => {
    const all = action('*')
    expect(decide([action('a')], [taken('*', -1), taken('a', -1)])).toMatchObject({ kind: 'refuse' })
    expect(decide([action('a')], [taken('*', -1), taken('b', -1)])).toMatchObject({ kind: 'allow' })
    expect(decide([all], [taken('a', -1), taken('b', -1)])).toMatchObject({ kind: 'allow' })
    expect(decide([all], [taken('a', -1), taken('a', -2)])).toMatchObject({ kind: 'refuse', freeAt: at(2) })
    expect(decide([all], [taken('a', -1), taken('*', -2)])).toMatchObject({ kind: 'refuse' })
    expect(decide([all, action('a'), action('b')])).toMatchObject({ kind: 'allow' })
    expect(decide([action('a'), action('a'), all])).toMatchObject({ kind: 'refuse' })
  })

  test('the same name elsewhere is another service, if both places are known', () => {
    const before = [taken('a', -1, { scope: 'x' }), taken('a', -2, { scope: 'x' })]
    expect(decide([action('a', { scope: 'y' })], before)).toMatchObject({ kind: 'allow' })
    expect(decide([action('*', { scope: 'y' })], before)).toMatchObject({ kind: 'allow' })
    expect(decide([action('a', { scope: 'x' })], before)).toMatchObject({ kind: 'refuse' })
    expect(decide([action('*', { scope: 'x' })], before)).toMatchObject({ kind: 'refuse' })
    expect(decide([action('a')], before)).toMatchObject({ kind: 'refuse' })
  })
})
