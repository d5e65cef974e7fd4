import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { actionsOf } from '../../src/core/policy/actions.ts'
import type { Surroundings } from '../../src/core/policy/command.ts'
import {
  type Action,
  compileCooldowns,
  compileServicePattern,
  decideCooldown,
  type TakenAction,
} from '../../src/core/policy/cooldown.ts'
import { DEFAULT_COOLDOWNS } from '../../src/core/policy/defaults.ts'
import { extractCommands } from '../../src/core/policy/walk.ts'
import { cpuMsOf } from '../core/cpu-time.ts'
import { surroundings } from './corpus.ts'
import { AROUND_COMMAND, AROUND_TEXT } from './wrappings.ts'

const DEFAULTS = compileCooldowns(DEFAULT_COOLDOWNS)
const HOUR_MS = 3_600_000
const T0 = new Date('2026-03-01T12:00:00Z')
const at = (hours: number) => new Date(T0.getTime() + hours * HOUR_MS)

function look(text: string, cooldowns = DEFAULTS, where: Partial<Surroundings> = {}) {
  const around = { ...surroundings, ...where }
  return actionsOf(extractCommands(text, around), cooldowns, around)
}

/** `restart web`, or with its scope `redeploy web @media`. */
function found(text: string, cooldowns = DEFAULTS): string[] {
  const { actions, unclear } = look(text, cooldowns)
  if (unclear) return [`unclear: ${unclear.reason}`]
  return actions.map(({ rule, service, scope }) => `${rule} ${service}${scope === null ? '' : ` @${scope}`}`)
}

describe('recognised', () => {
  test.each([
    ['docker restart web', 'restart web'],
    ['docker restart a b c', 'restart a', 'restart b', 'restart c'],
    ['docker restart -t 5 web', 'restart web'],
    ['docker restart web --time=5', 'restart web'],
    ['docker restart --unknown a b', 'restart a', 'restart b'],
    ['docker --context remote restart web', 'restart web'],
    ['docker --made-up value restart web', 'restart web'],
    ['docker container restart web', 'restart web'],
    ['docker restart /web', 'restart web'],
    ['docker restart "we"b', 'restart web'],
    ['/usr/bin/docker restart web', 'restart web'],
    ['./docker restart web', 'restart web'],
    ['./copy-of-docker restart web', 'restart web'],
    ['$(which docker) restart web', 'restart web'],
    ['docker compose restart web', 'restart web @project'],
    ['docker compose restart', 'restart * @project'],
    ['docker-compose up -d web', 'redeploy web @project'],
    ['docker compose -f f.yml up -d web', 'redeploy web @project'],
    ['docker compose -f /srv/media/f.yml up -dt 9 web db', 'redeploy web @media', 'redeploy db @media'],
    ['docker compose -p media up', 'redeploy * @media'],
    ['COMPOSE_PROJECT_NAME=media docker compose up', 'redeploy * @media'],
    ['docker compose --project-directory ../media up --scale web=3 -d', 'redeploy * @media'],
    ['cd /srv/media && docker compose up -d', 'redeploy * @media'],
    ['(cd /srv/media; docker compose up -d)', 'redeploy *'],
    ['podman restart web', 'restart web'],
    ['systemctl restart web', 'restart web'],
    ['systemctl restart web.service db.timer', 'restart web', 'restart db.timer'],
    ['systemctl --user --no-block restart web', 'restart web'],
    ['sudo service web restart', 'restart web'],
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
    ['helm upgrade --made-up x web chart', 'redeploy web', 'redeploy x'],
  ])('%s', (text, ...actions) => {
    expect(found(text)).toEqual(actions)
  })

  test.each([
    ["sh -c 'docker restart web'", 'restart web'],
    ['sudo -u root docker restart web', 'restart web'],
    ['systemd-run docker restart web', 'restart web'],
    ['some-wrapper docker restart web', 'restart web'],
    ['ssh host docker restart web', 'restart web'],
    ['docker restart web; docker restart web', 'restart web', 'restart web'],
    ['docker restart web || docker restart db', 'restart web', 'restart db'],
    ['docker ps | xargs -I{} docker restart web', 'unclear'],
    ['until docker restart web; do sleep 1; done', 'unclear'],
    ["trap 'docker restart web' USR1; kill -USR1 $$", 'unclear'],
    ["trap 'docker restart web' EXIT", 'restart web'],
    ['select x in a b; do docker restart web; done', 'unclear'],
    ["mapfile -c 1 -C 'docker restart web #' x < f", 'unclear'],
    ['parallel docker restart ::: web web', 'unclear'],
    ['a=(restart web); docker "${a[@]}"', 'restart web'],
    ['for s in a b; do docker restart $s; done', 'restart a', 'restart b'],
    ['for s in a b; do sh -c "docker restart $s"; done', 'restart a', 'restart b'],
    ['for i in 1 2 3; do docker restart web; done', 'restart web', 'restart web', 'restart web'],
    [
      'for i in 1 2; do for s in a b; do docker restart $s; done; done',
      'restart a',
      'restart a',
      'restart b',
      'restart b',
    ],
    ['cd /x && for s in a b; do docker restart $s; done', 'restart a', 'restart b'],
    ['r() { docker restart "$1"; }; r a; r b', 'restart a', 'restart b'],
    ['X=web; docker restart $X', 'restart web'],
    ['echo a b | xargs docker restart', 'restart a', 'restart b'],
  ])('in disguise: %s', (text, ...actions) => {
    expect(found(text)).toEqual(
      actions.map((one) => (one === 'unclear' ? expect.stringContaining(one) : one)),
    )
  })
})

test('wrapped in whatever wraps commands, it is counted at least once, or unclear', () => {
  const wrapped = fc.record({
    command: fc.constantFrom(
      'docker restart web',
      'sudo systemctl restart -q web',
      'docker compose up -d web',
    ),
    inner: fc.array(fc.constantFrom(...AROUND_COMMAND), { maxLength: 3 }),
    outer: fc.array(fc.constantFrom(...AROUND_TEXT), { maxLength: 3 }),
  })
  fc.assert(
    fc.property(wrapped, ({ command, inner, outer }) => {
      const text = [...inner, ...outer].reduce<string>((around, wrap) => wrap(around), command)
      const { actions, unclear } = look(text)
      if (!unclear && !actions.some(({ service }) => service === 'web')) throw new Error(`not seen: ${text}`)
    }),
    { numRuns: 1000, verbose: true },
  )
})

test.each([
  ['options', `docker ${'-a '.repeat(290)}restart x`],
  ['options with values', `helm upgrade ${'--a b '.repeat(140)}x`],
  ['words', `docker restart ${'x '.repeat(1990)}`],
  ['unknown words', `docker ${'"$X" '.repeat(290)}`],
  ['commands', 'docker restart x;'.repeat(490)],
  ['loops', `${'for i in a b c d; do '.repeat(6)}docker restart x; ${'done; '.repeat(6)}`],
])('a great many %s are looked through soon', (_, text) => {
  expect(cpuMsOf(() => look(text))).toBeLessThan(1000)
})

describe('left alone', () => {
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
    'echo docker restart web',
    'git commit -m "docker restart web"',
    'while ! curl -sf localhost; do sleep 1; done',
    'python3 -c "print(1)"',
  ])('%s', (text) => {
    expect(found(text)).toEqual([])
  })
})

test.each([
  ['docker compose up -d --dry-run=false', 'redeploy * @project'],
  ['helm upgrade --set --dry-run web chart', 'redeploy web'],
  ['helm upgrade --made-up --dry-run web chart', 'redeploy web'],
  ['helm upgrade web chart --dry-run --dry-run=none', 'redeploy web'],
  ['./docker restart web --help', 'restart web'],
])('what only looks like a rehearsal is counted: %s', (text, action) => {
  expect(found(text)).toContain(action)
})

describe('cannot be counted as it is written', () => {
  test.each([
    ['docker restart $X', "Write out the service's name"],
    ['docker restart $(docker ps -q)', "Write out the service's name"],
    ['docker restart web-*', "Write out the service's name"],
    ["systemctl restart 'web*'", "Write out the service's name"],
    ['docker restart 3f2a9c01b7de', "Write out the service's name"],
    ['docker $VERB web', "Write the command out, with the service's name"],
    ['docker "$VERB" web', "Write the command out, with the service's name"],
    ['$X restart $Y', "Write out the service's name"],
    ['cat list | xargs docker restart', "Write out the service's name"],
    ['while true; do docker restart web; done', 'is not known, for it is repeated'],
    ['for i in $(seq 3); do docker restart web; done', 'is not known, for it is repeated'],
    ['for ((i=0;i<3;i++)); do docker restart web; done', 'is not known, for it is repeated'],
    ['watch docker restart web', 'is not known, for it is repeated'],
    ['find . -exec docker restart web \\;', 'is not known, for it is repeated'],
    [`python3 -c "os.system('docker restart web')"`, 'speaks of `docker restart {service}`'],
    ["perl -e 'exec qw(systemctl restart web)'", 'speaks of `systemctl restart {service}`'],
  ])('%s', (text, reason) => {
    expect(found(text)).toEqual([expect.stringContaining(reason)])
  })
})

describe('patterns', () => {
  const counted = (match: string, text: string) =>
    found(text, compileCooldowns({ mine: { match: [match], limit: 1, per: 1 } }))

  test('the service may stand anywhere, and is one word if others follow', () => {
    expect(counted('tool {service} bounce', 'tool --now web bounce')).toEqual(['mine web'])
    expect(counted('tool bounce {service} *', 'tool bounce web now')).toEqual(['mine web'])
    expect(counted('tool * bounce {service}', 'tool a b bounce web db')).toEqual(['mine web', 'mine db'])
    expect(counted("tool 'bounce it' {service}", 'tool bounce\\ it web')).toEqual(['mine web'])
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
