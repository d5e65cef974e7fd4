/** What a sandbox needs in a work directory is there as long as one attempt needs it. */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { AttemptId, SessionId } from '../../../src/contract/ids.ts'
import { type EncloseRequest, Enclosures } from '../../../src/engine/enforce/enclosures.ts'
import { type AttemptDir, attemptDir } from '../../../src/process/attempt-dir.ts'
import { openSandboxHost } from '../../../src/process/sandbox/host.ts'

function setUp() {
  const base = realpathSync(mkdtempSync('/var/tmp/reprise-enclosures-'))
  onTestFinished(() => rmSync(base, { recursive: true }))
  const workDir = join(base, 'work')
  for (const path of [join(workDir, '.git'), join(base, 'home'), join(base, 'state')])
    mkdirSync(path, { recursive: true })
  const host = openSandboxHost('')
  const open = () =>
    new Enclosures({
      store: { findSandboxWish: async () => null },
      sandbox: { ...host, plan: async (input, command) => host.plan(input, command) },
      sandboxes: join(base, 'sandboxes'),
      ownPaths: [],
      stateDir: join(base, 'state'),
      settings: { sandbox: { runs: true, tiersNeedIt: false } },
    })
  let enclosures = open()
  const enclose = async () => {
    const id = AttemptId.create(new Date())
    const dir = attemptDir(join(base, 'spool'), id)
    mkdirSync(dir.path, { recursive: true })
    const adapter = {
      name: 'test',
      enclose: async () => ({
        env: {},
        privateDirs: [],
        readOnly: [],
        workDirEntries: ['.agent'],
        disposable: [],
      }),
    }
    await enclosures.enclose({
      attempt: { sessionId: SessionId.create(new Date()), agentSessionId: 'x' },
      agent: { adapter },
      runtime: { path: '/usr/bin/true' },
      dir,
      workDir,
      rules: null,
      command: { program: 'true', args: [] },
      env: { HOME: join(base, 'home') },
      protectedPatterns: [],
      hidden: [],
      shared: { visible: [], writable: [] },
      replaced: [],
    } as unknown as EncloseRequest)
    return { dir, end: enclosures.hold(dir) }
  }
  /** What a new daemon knows: the folders of open attempts. */
  const restart = (...dirs: AttemptDir[]) => {
    enclosures = open()
    return dirs.map((dir) => enclosures.hold(dir))
  }
  const there = () =>
    ['.agent', '.git/hooks', '.git/commondir'].map((name) => existsSync(join(workDir, name)))
  return { enclose, restart, there, workDir }
}

it('is removed when the last of two attempts in one work directory has ended, whoever created it', async () => {
  const { enclose, there, workDir } = setUp()
  const { end: endFirst } = await enclose()
  expect(there()).toEqual([true, true, true])
  expect(readFileSync(join(workDir, '.git/commondir'), 'utf8')).toBe('.\n')
  const { end: endSecond } = await enclose()
  endFirst()
  expect(there()).toEqual([true, true, true])
  endSecond()
  expect(there()).toEqual([false, false, false])
})

it('is removed by the next daemon, also if the attempt that created it had ended before', async () => {
  const { enclose, restart, there } = setUp()
  const first = await enclose()
  const second = await enclose()
  first.end()
  const [end] = restart(second.dir)
  expect(there()).toEqual([true, true, true])
  end?.()
  expect(there()).toEqual([false, false, false])
})

it('stays while another attempt of the former daemon may still need it', async () => {
  const { enclose, restart, there } = setUp()
  const [first, second] = [await enclose(), await enclose()]
  const ends = restart(first.dir, second.dir)
  ends[0]?.()
  expect(there()).toEqual([true, true, true])
  ends[1]?.()
  expect(there()).toEqual([false, false, false])
})
