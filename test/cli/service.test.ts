/** `reprise service`, with a `systemctl` that records its calls, because containers have no systemd. */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { serviceOf } from '../../src/cli/service/control-group.ts'
import { type Cli, createCli } from './cli.ts'

let cli: Cli
let bin: string
beforeAll(() => {
  cli = createCli()
  bin = join(cli.workDir, 'bin')
  mkdirSync(bin)
})
afterAll(() => cli.close())

const calls = () => join(cli.workDir, 'calls')
const unit = () => join(cli.workDir, '.config/systemd/user/reprise.service')
const service = (...args: string[]) =>
  cli.inside(['service', ...args], { env: { PATH: `${bin}:/usr/bin:/bin`, XDG_CONFIG_HOME: '' } })

/** Its answers are by subcommand; others succeed silently. */
function standInSystemctl(answers: Record<string, string>): void {
  const cases = Object.entries(answers).map(([word, answer]) => `*" ${word}"*) ${answer};;`)
  const script = `#!/bin/sh\necho "$@" >> ${calls()}\ncase " $*" in\n${cases.join('\n')}\nesac\n`
  writeFileSync(join(bin, 'systemctl'), script, { mode: 0o755 })
  rmSync(calls(), { force: true })
}

test('a dry run prints the unit: agents survive a restart, and `reprise down` is obeyed', async () => {
  const { code, stdout, stderr } = await service('install', '--dry-run')
  expect(code).toBe(0)
  expect(stdout).toMatch(/^ExecStart=".*\/bin\/reprise" up --foreground$/m)
  expect(stdout).toContain(`Environment="REPRISE_HOME=${cli.home}"`)
  expect(stdout).toContain('\nKillMode=process\n')
  expect(stdout).toContain('\nRestart=on-failure\n')
  expect(stdout).toContain('\nWantedBy=default.target\n')
  expect(stdout).not.toContain('User=')
  expect(stderr).toContain(`Would write ${unit()}`)
  expect(existsSync(unit())).toBe(false)
  const system = (await service('install', '--dry-run', '--system', '--json')).json()
  expect(system).toMatchObject({ file: '/etc/systemd/system/reprise.service' })
  expect(system.unit).toMatch(/\nUser=\S+\n/)
})

test('installs, shows and removes', async () => {
  standInSystemctl({ 'is-active': 'echo active', 'is-enabled': 'echo enabled' })
  expect(await service('status')).toMatchObject({
    code: 1,
    stdout: expect.stringContaining('is not installed'),
  })
  expect(await service('install')).toMatchObject({ code: 0, stdout: expect.stringContaining(unit()) })
  expect(readFileSync(unit(), 'utf8')).toContain('KillMode=process')
  expect(readFileSync(calls(), 'utf8')).toContain(
    '--user daemon-reload\n--user enable reprise.service\n--user restart reprise.service\n',
  )
  expect((await service('status', '--json')).json()).toMatchObject({
    installed: true,
    state: 'active',
    startup: 'enabled',
  })
  expect((await service('remove', '--dry-run')).stdout).toContain('disable --now reprise.service')
  expect(existsSync(unit())).toBe(true)
  expect(await service('remove')).toMatchObject({ code: 0 })
  expect(existsSync(unit())).toBe(false)
  expect(readFileSync(calls(), 'utf8')).toContain(
    '--user disable --now reprise.service\n--user daemon-reload\n',
  )
})

test('a sentence where there is no systemd, and where systemctl fails', async () => {
  standInSystemctl({ show: 'echo "Failed to connect to bus" >&2; exit 1' })
  const none = await service('install')
  expect([none.code, none.stderr]).toEqual([1, expect.stringContaining('there is no systemd for this user')])
  expect(none.stderr).toContain('reprise up --foreground')
  expect(existsSync(unit())).toBe(false)
  standInSystemctl({ enable: 'echo "Access denied" >&2; exit 1' })
  const denied = await service('install')
  expect([denied.code, denied.stderr]).toEqual([
    1,
    expect.stringContaining('systemctl --user enable reprise.service failed: Access denied'),
  ])
})

test('a daemon that systemd runs is told from others by its control group', () => {
  const user = '0::/user.slice/user-1000.slice/user@1000.service/app.slice/reprise.service\n'
  expect(serviceOf(user)).toBe('user')
  expect(serviceOf('0::/system.slice/reprise.service\n')).toBe('system')
  expect(serviceOf('9:name=systemd:/system.slice/reprise.service\n8:pids:/system.slice\n')).toBe('system')
  expect(serviceOf('0::/user.slice/user-1000.slice/session-3.scope\n')).toBeNull()
  expect(serviceOf('0::/system.slice/other-reprise.service\n')).toBeNull()
  expect(serviceOf('0::/system.slice/reprise.service.d-backup.scope\n')).toBeNull()
  expect(serviceOf('')).toBeNull()
})
