/** However a forbidden part is surrounded by options and words, it is refused at every tier. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { judgeCall } from '../../src/core/rules/judge.ts'
import { CWD, factsOf, rulesOf } from './world.ts'

const rules = ['1', '2', '3', '-'].map((tier) => rulesOf(tier))
const facts = factsOf()

const isRefused = (program: string, args: readonly string[]) =>
  rules.every((one) => judgeCall({ program, args, cwd: CWD }, one, facts).decision === 'deny')

const noise = fc.array(
  fc.constantFrom(
    ...['-d', '-it', '--rm', '--made-up', '--made-up=x', '-x', '--init', '--privileged=false'].map((word) => [
      word,
    ]),
    ...['--name', '-e', '--env', '--label', '-u', '--made-up', '--network', '-p'].map((word) => [
      word,
      'web',
    ]),
    ['-v', 'data:/data'],
    ['--name=x'],
    ['-v=a:/b'],
  ),
  { maxLength: 4 },
)

const forbidden = fc.constantFrom(
  ['-v', '/home/dev/.ssh:/x'],
  ['-v/home/dev/.ssh:/x'],
  ['-itv', '/home/dev/.ssh:/x'],
  ['--volume', '/:/x'],
  ['--volume=/var/run/docker.sock:/x:ro'],
  ['--mount', 'type=bind,src=/home/dev,dst=/x'],
  ['--mount=dst=/x,source=/home/dev/.kube,type=bind'],
  ['--privileged'],
  ['--privileged=true'],
  ['--pid', 'host'],
  ['--net=host'],
  ['--network', 'host'],
  ['--device=/dev/sda'],
  ['--cap-add', 'ALL'],
  ['--security-opt', 'seccomp=unconfined'],
)

test('docker run', () => {
  const command = fc.constantFrom(['run'], ['create'], ['container', 'run'])
  const program = fc.constantFrom('docker', 'podman', '/usr/bin/docker', 'nerdctl')
  fc.assert(
    fc.property(program, command, noise, forbidden, noise, (name, sub, before, danger, after) => {
      expect(isRefused(name, [...sub, ...before.flat(), ...danger, ...after.flat(), 'img', 'ls'])).toBe(true)
      // What surrounds it is no reason.
      expect(isRefused(name, [...sub, ...before.flat(), ...after.flat(), 'img', 'ls'])).toBe(false)
    }),
    { numRuns: 3000, verbose: true },
  )
})

test('git push', () => {
  const quiet = fc.array(
    fc.constantFrom('-q', '--no-verify', '-u', '--tags', '--atomic', '-o=x', '--porcelain'),
    {
      maxLength: 3,
    },
  )
  const force = fc.constantFrom(
    '--force',
    '-f',
    '-uf',
    '-fq',
    '--delete',
    '-d',
    '--mirror',
    '--prune',
    '--forc',
    '--force-with-lease',
    '--mir',
  )
  const refspec = fc.constantFrom('+main', '+a:b', ':main', '+refs/heads/*:refs/heads/*')
  const place = fc.constantFrom<string[]>(
    [],
    ['-C', 'x'],
    ['--no-pager'],
    ['--git-dir=.git'],
    ['-P', '-C', 'y'],
  )
  fc.assert(
    fc.property(place, quiet, force, quiet, (before, some, danger, more) => {
      expect(isRefused('git', [...before, 'push', ...some, danger, ...more, 'origin', 'main'])).toBe(true)
      expect(isRefused('git', [...before, 'push', ...some, 'origin', ...more, 'main', danger])).toBe(true)
    }),
    { verbose: true },
  )
  fc.assert(
    fc.property(place, quiet, refspec, quiet, (before, some, danger, more) => {
      expect(isRefused('git', [...before, 'push', ...some, 'origin', ...more, danger])).toBe(true)
    }),
    { verbose: true },
  )
})

test('ssh', () => {
  const plain = fc.array(fc.constantFrom('-v', '-q', '-T', '-4', '-p22', '-lme', '-oBatchMode=yes'), {
    maxLength: 3,
  })
  const danger = fc.constantFrom(
    ['-oProxyCommand=x'],
    ['-o', 'ProxyCommand x'],
    ['-vo', 'proxycommand=x'],
    ['-F/tmp/x'],
    ['-vTF', '/tmp/x'],
    ['-o', 'Include=/tmp/x'],
    ['-S', '/tmp/x'],
  )
  fc.assert(
    fc.property(plain, danger, plain, fc.boolean(), (before, bad, after, behind) => {
      const args = behind
        ? [...before, 'host', ...bad, ...after, 'ls']
        : [...before, ...bad, ...after, 'host', 'ls']
      expect(isRefused('ssh', args)).toBe(true)
    }),
    { verbose: true },
  )
})

test('what the never-list forbids on another host or in a container', () => {
  const bad = fc.constantFrom(
    'docker system prune -f',
    'podman volume prune',
    'git push -f',
    'git push origin :main',
  )
  const around = fc.constantFrom<(text: string) => string>(
    (text) => text,
    (text) => `sudo ${text}`,
    (text) => `cd /x && ${text}; ls`,
    (text) => `sh -c "${text}"`,
    (text) => `FOO=1 env A=b nice -n 5 ${text} | tee log`,
    (text) => text.replace('docker', '/usr/bin/docker').replace('git', "g'i't"),
  )
  fc.assert(
    fc.property(bad, around, around, (text, inner, outer) => {
      const command = outer(inner(text))
      expect(isRefused('ssh', ['-p', '22', 'host', command])).toBe(true)
      expect(isRefused('ssh', ['host', ...command.split(' ')])).toBe(true)
      expect(isRefused('docker', ['exec', '-it', 'web', 'sh', '-c', command])).toBe(true)
      expect(isRefused('kubectl', ['exec', 'pod', '--', 'sh', '-c', command])).toBe(true)
    }),
    { verbose: true },
  )
})
