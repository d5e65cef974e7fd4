/**
 * The corpus of commands in disguise, and of innocent ones that look like them. What is disguised is held by sandbox and
 * broker, so with a sandbox it is only asked here that nothing innocent is refused and that what is plain is refused
 * early. Without a sandbox nothing forbidden may pass at a tier that restricts.
 */
import { describe, expect, test } from 'vitest'
import { DEFAULT_TIERS } from '../../src/core/rules/defaults.ts'
import { ask, readCorpus } from './machine.ts'

const forbidden = readCorpus('forbidden')
const innocent = readCorpus('innocent')
const RESTRICTING = Object.keys(DEFAULT_TIERS).filter((tier) => DEFAULT_TIERS[tier]?.commands.allow)

test('the corpus is large enough to mean something, and says nothing twice', () => {
  expect(forbidden.length).toBeGreaterThanOrEqual(1000)
  expect(innocent.length).toBeGreaterThanOrEqual(400)
  const all = [...forbidden, ...innocent].map(({ tier, command }) => `${tier} ${command}`)
  expect(new Set(all).size).toBe(all.length)
})

describe('with a sandbox', () => {
  test('nothing innocent is refused', () => {
    const refused = innocent.flatMap(({ tier, command }) => {
      const { decision, reason } = ask(command, tier, 'kernel')
      return decision === 'deny' ? [`${tier} | ${command}: ${reason}`] : []
    })
    expect(refused).toEqual([])
  })

  test.each([
    ['-', 'docker system prune'],
    ['-', 'docker system prune -af --volumes'],
    ['-', 'docker --context remote system prune'],
    ['-', 'd"ock"er sys\'tem\' prune'],
    ['-', "$'\\x64ocker' system $'\\160rune'"],
    ['-', '/usr/bin/docker system prune'],
    ['-', 'ls; docker system prune | cat'],
    ['-', 'if true; then (docker system prune) & fi'],
    ['-', 'f() { docker system prune; }; trap f EXIT'],
    ['-', 'echo "a $(docker system prune) b"'],
    ['-', 'cat <<EOF\n$(docker system prune)\nEOF'],
    ['-', "sh -c 'docker system prune'"],
    ['-', "sudo -u root env A=1 timeout 5 nice bash -ec 'docker system prune'"],
    ['-', 'find . -exec docker system prune \\;'],
    ['-', 'git push --force origin main'],
    ['-', 'git -C /srv push origin +main'],
    ['-', 'rm -rf /'],
    ['-', 'rm -rf ~/*'],
    ['-', 'cd / && rm -rf /usr'],
    ['-', 'echo x > /volumes/x'],
    ['-', 'mv x .git/hooks/pre-commit'],
    ['-', 'reprise runs approve run_1'],
    ['1', 'docker restart web'],
    ['2', 'docker compose down'],
    ['2', 'cd kept && docker rm -f web'],
  ])('tier %s: %j is plain, so it is refused early', (tier, command) => {
    const { decision, reason, rule } = ask(command, tier, 'kernel')
    expect({ decision, reason }).toMatchObject({ decision: 'deny' })
    expect(reason).toMatch(/\.$/)
    expect(rule).toBeTruthy()
  })

  test('what is not plain is left to sandbox and broker', () => {
    for (const command of ['docker system $X', 'eval "docker system prune"', 'python3 x.py', 'ls > /etc/x'])
      expect(ask(command, '1', 'kernel')).toMatchObject({ decision: 'allow' })
    expect(ask('docker ps && git push && git log', '2', 'kernel').brokered).toEqual(['docker', 'git'])
  })

  test('what would only be told that there is no such file is refused early', () => {
    expect(ask('cat ~/.ssh/id_rsa', '3', 'kernel').rule).toBe('hidden')
    expect(ask('echo ~/.ssh/id_rsa', '3', 'kernel').decision).toBe('allow')
  })

  test('actions are counted by the broker, not here', () => {
    expect(ask('docker restart web', '2', 'kernel').actions).toEqual([])
    expect(ask('docker restart web', '2', 'advisory').actions).toMatchObject([
      { rule: 'restart', service: 'web' },
    ])
  })
})

describe('without a sandbox', () => {
  test.each(RESTRICTING)('nothing forbidden passes at tier %s', (tier) => {
    const cases = forbidden.filter((one) => one.tier === '-' || one.tier === tier)
    expect(cases.length).toBeGreaterThan(700)
    const passed = cases.filter(({ command }) => ask(command, tier, 'advisory').decision === 'allow')
    expect(passed).toEqual([])
  })

  test('most of what is innocent and written out passes', () => {
    const passed = innocent.filter(({ tier, command }) => ask(command, tier, 'advisory').decision === 'allow')
    expect(passed.length / innocent.length).toBeGreaterThan(0.6)
  })
})
