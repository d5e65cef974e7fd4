import { describe, expect, test } from 'vitest'
import { describeCooldowns } from '../../src/core/rules/cooldown-state.ts'
import {
  ALWAYS_PROTECTED,
  DEFAULT_HIDDEN_PATHS,
  DEFAULT_PROTECTED_PATHS,
} from '../../src/core/rules/default-paths.ts'
import { DEFAULT_BROKER_PROGRAMS, DEFAULT_TIERS, KNOWN_TOOLS } from '../../src/core/rules/defaults.ts'
import { HOME, rulesOf } from './world.ts'

describe('the defaults', () => {
  test.each(['1', '2', '3', '-'])('the rules of tier %s can be understood', (tier) => {
    expect(rulesOf(tier).restricts).toBe(tier === '1' || tier === '2')
  })

  test('the tools of every tier are known', () => {
    for (const { tools } of Object.values(DEFAULT_TIERS))
      for (const tool of tools) expect(KNOWN_TOOLS).toContain(tool)
  })

  test.each([
    ['docker', '~/.docker'],
    ['docker', '/run/docker.sock'],
    ['podman', '~/.config/containers/auth.json'],
    ['podman', '/run/podman'],
    ['kubectl', '~/.kube'],
    ['gh', '~/.config/gh'],
    ['tea', '~/.config/tea'],
    ['ssh', '~/.ssh'],
    ['git', '~/.git-credentials'],
    ['systemctl', '/run/dbus'],
    ['systemctl', '/run/systemd/private'],
    ['apprise', '~/.config/apprise'],
    ['terraform', '~/.terraform.d/credentials.tfrc.json'],
  ])('%s is run by the broker, and %s is hidden', (program, path) => {
    expect(DEFAULT_BROKER_PROGRAMS).toContain(program)
    expect(DEFAULT_HIDDEN_PATHS).toContain(path)
  })

  test('hidden paths are absolute or in the home, and no pattern', () => {
    for (const path of DEFAULT_HIDDEN_PATHS) expect(path).toMatch(/^(~|)\/[\w.@/-]*\w$/)
    expect(new Set(DEFAULT_HIDDEN_PATHS).size).toBe(DEFAULT_HIDDEN_PATHS.length)
    expect(DEFAULT_HIDDEN_PATHS.map((path) => path.replace('~', HOME))).not.toContain(HOME)
  })

  test('what a later shell or git would follow is protected, besides what is configured', () => {
    for (const path of ['~/.bashrc', '.git/config', '.git/hooks/**', '/etc/systemd/**', '~/.local/bin/**'])
      expect(ALWAYS_PROTECTED).toContain(path)
    expect(DEFAULT_PROTECTED_PATHS).toContain('/volumes/**')
  })
})

test('the state of the cooldowns says what was used, and when there is room again', () => {
  const at = (hours: number) => new Date(Date.UTC(2026, 2, 1, 12 + hours))
  const taken = (service: string, hours: number) => ({ rule: 'restart', service, scope: null, at: at(hours) })
  const limits = [{ name: 'restart', limit: 2, perMs: 4 * 3_600_000 }]
  expect(
    describeCooldowns(limits, [taken('a', -1), taken('b', -1), taken('*', -2), taken('a', -5)], at(0)),
  ).toEqual({
    updatedAt: '2026-03-01T12:00:00.000Z',
    rules: { restart: { limit: 2, per: '4h' } },
    services: {
      '*': { restart: { used: 1, limit: 2, lastAt: '2026-03-01T10:00:00.000Z', freeAt: null } },
      a: {
        restart: {
          used: 2,
          limit: 2,
          lastAt: '2026-03-01T11:00:00.000Z',
          freeAt: '2026-03-01T14:00:00.000Z',
        },
      },
      b: {
        restart: {
          used: 2,
          limit: 2,
          lastAt: '2026-03-01T11:00:00.000Z',
          freeAt: '2026-03-01T14:00:00.000Z',
        },
      },
    },
  })
})
