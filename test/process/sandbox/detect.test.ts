/** Which sandbox is chosen, and what is said about those that cannot be used. */
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { detectSandbox } from '../../../src/process/sandbox/detect.ts'
import { explainRefusal, type MachineFacts } from '../../../src/process/sandbox/explain.ts'
import { findProgram } from '../../../src/process/sandbox/machine.ts'

const FACTS: MachineFacts = {
  isRoot: false,
  maxUserNamespaces: 1000,
  unprivilegedClone: null,
  appArmorRestricts: null,
  hasSeccompFilter: false,
  isContainer: false,
}
const path = process.env.PATH ?? ''

/** A program of that name that fails as the real one does. */
function failing(message: string): string {
  const dir = mkdtempSync(join(tmpdir(), 'reprise-failing-'))
  onTestFinished(() => rmSync(dir, { recursive: true }))
  const program = join(dir, 'fails')
  writeFileSync(program, `#!/bin/sh\necho '${message}' >&2\nexit 1\n`)
  chmodSync(program, 0o755)
  return program
}

describe('detection', () => {
  it('says what is missing if nothing is installed', async () => {
    const found = await detectSandbox({ path, facts: FACTS, find: () => null })
    expect(found).toMatchObject({
      means: { kind: 'none' },
      refused: [
        { kind: 'bubblewrap', reason: 'not-installed', message: 'bwrap, env, sh are not installed.' },
        { kind: 'unshare', reason: 'not-installed', advice: expect.stringContaining('Install bubblewrap') },
      ],
    })
  })

  it('says why if the kernel has no user namespaces', async () => {
    const program = failing('unshare: unshare failed: No space left on device')
    const find = (name: string) => (['bwrap', 'unshare'].includes(name) ? program : findProgram(name, path))
    const found = await detectSandbox({ path, facts: { ...FACTS, maxUserNamespaces: 0 }, find })
    expect(found.means.kind).toBe('none')
    expect(found.refused.map(({ kind, reason }) => [kind, reason])).toEqual([
      ['bubblewrap', 'namespaces-disabled'],
      ['unshare', 'namespaces-disabled'],
    ])
    expect(found.refused[0]?.message).toContain('No space left on device')
  })

  it('tries the next one if the first fails', async (context) => {
    const real = await detectSandbox({
      path,
      find: (name) => (name === 'bwrap' ? null : findProgram(name, path)),
    })
    if (real.means.kind !== 'unshare') context.skip('util-linux cannot make a sandbox here')
    const program = failing('bwrap: setting up uid map: Permission denied')
    const find = (name: string) => (name === 'bwrap' ? program : findProgram(name, path))
    const found = await detectSandbox({ path, facts: { ...FACTS, appArmorRestricts: 1 }, find })
    expect(found.means.kind).toBe('unshare')
    expect(found.refused).toMatchObject([{ kind: 'bubblewrap', reason: 'apparmor' }])
  })
})

it('uses bubblewrap alone where it may create user namespaces and unshare may not', async (context) => {
  const real = await detectSandbox({
    path,
    find: (name) => (name === 'setpriv' ? null : findProgram(name, path)),
  })
  if (real.means.kind !== 'bubblewrap') context.skip('bubblewrap does not work here')
  const program = failing('unshare: write failed /proc/self/uid_map: Operation not permitted')
  const find = (name: string) => (name === 'unshare' ? program : findProgram(name, path))
  const { means } = await detectSandbox({ path, facts: FACTS, find })
  expect(means).toMatchObject({ kind: 'bubblewrap', tools: { unshare: null } })
})

describe('explanation', () => {
  const DENIED = 'bwrap: Creating new namespace failed: Operation not permitted'
  it.each<[string, string, Partial<MachineFacts>, RegExp]>([
    ['too-old', 'bwrap: Unknown option --disable-userns', {}, /bubblewrap 0.8/],
    ['namespaces-disabled', DENIED, { unprivilegedClone: 0 }, /unprivileged_userns_clone=1/],
    ['container', DENIED, { isContainer: true, hasSeccompFilter: true }, /--security-opt seccomp=unconfined/],
    ['apparmor', 'setting up uid map: Permission denied', { appArmorRestricts: 1 }, /AppArmor profile/],
    ['seccomp', DENIED, { hasSeccompFilter: true }, /RestrictNamespaces=no/],
    ['unknown', DENIED, {}, /./],
    ['unknown', 'Segmentation fault', { isContainer: true }, /./],
  ])('%s: %s', (reason, printed, facts, advice) => {
    const refusal = explainRefusal(printed, { ...FACTS, ...facts })
    expect(refusal.reason).toBe(reason)
    expect(refusal.advice).toMatch(advice)
    expect(refusal.message).toContain(printed)
  })
})
