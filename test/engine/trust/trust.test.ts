/** Which settings of a work directory apply to a run, and what people are told about those that do not. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Start } from '../../support/memory/script.ts'
import { Stage } from '../../support/memory/stage.ts'

let stage: Stage
beforeEach(async () => {
  stage = await Stage.open()
  mkdirSync(join(stage.workDir, '.claude'))
})
afterEach(() => stage.close())

const hooks = (command: string, dir = stage.workDir) => {
  mkdirSync(join(dir, '.claude'), { recursive: true })
  const settings = { hooks: { Stop: [{ hooks: [{ type: 'command', command }] }] } }
  writeFileSync(join(dir, '.claude/settings.json'), JSON.stringify(settings))
}

/** Runs once, and returns the run and how its agent was started. */
async function start(request: Parameters<Stage['run']>[0] = {}) {
  const starts: Start[] = []
  stage.play(async (agent) => {
    starts.push(agent.start)
    await agent.begin()
    agent.finish('done')
    return agent.leave()
  })
  const run = await stage.run(request)
  return { run, start: starts[0]!, notes: await stage.notes(run.id) }
}

async function trust(dir = stage.workDir) {
  const { digest } = await stage.engine.inspectTrust(dir)
  return stage.engine.decideTrust({ dir, digest, decision: 'trust' })
}

describe('settings of a work directory', () => {
  it('do not apply until a person has trusted them, and the run says so', async () => {
    hooks('evil')
    const before = await start()
    expect(before.start.directory.applies).toBe(false)
    expect(before.run.directorySettings).toBe('ignored')
    expect(before.notes).toEqual([expect.stringMatching(/not trusted.*1 hook.*reprise trust/)])

    expect(await trust()).toMatchObject({ state: 'trusted' })
    const after = await start()
    expect(after.start.directory.applies).toBe(true)
    expect(after.run.directorySettings).toBe('applied')
    expect(after.notes).toEqual([])
  })

  it('are trusted as they were shown: a change is asked about again, whoever made it', async () => {
    hooks('harmless')
    await trust()
    hooks('evil')
    expect(await stage.engine.inspectTrust(stage.workDir)).toMatchObject({
      state: 'changed',
      grants: [{ kind: 'hook', text: 'Stop: evil' }],
    })
    expect((await start()).start.directory.applies).toBe(false)
    hooks('harmless')
    writeFileSync(join(stage.workDir, '.mcp.json'), '{"mcpServers":{"evil":{"command":"evil"}}}')
    expect((await start()).start.directory.applies).toBe(false)
  })

  it('cannot be exchanged between being shown and being trusted', async () => {
    hooks('harmless')
    const { digest } = await stage.engine.inspectTrust(stage.workDir)
    hooks('evil')
    const decided = stage.engine.decideTrust({ dir: stage.workDir, digest, decision: 'trust' })
    await expect(decided).rejects.toMatchObject({ code: 'conflict' })
  })

  it('of nested directories are covered by a decision about the folder above, unless they add something', async () => {
    hooks('known')
    const [plain, own] = ['plain', 'own'].map((name) => join(stage.workDir, name)) as [string, string]
    mkdirSync(plain)
    hooks('evil', own)
    await trust()
    expect((await start({ workDir: plain })).start.directory.applies).toBe(true)
    expect((await start({ workDir: own })).start.directory.applies).toBe(false)
    expect(await stage.engine.inspectTrust(own)).toMatchObject({ state: 'untrusted' })
  })

  it('can be declined, which is remembered for this content, and revoked', async () => {
    hooks('first')
    const { dir, digest } = await stage.engine.inspectTrust(stage.workDir)
    await stage.engine.decideTrust({ dir, digest, decision: 'decline' })
    expect(await stage.engine.inspectTrust(dir)).toMatchObject({ state: 'declined' })
    expect((await start()).start.directory.applies).toBe(false)
    hooks('second')
    expect(await stage.engine.inspectTrust(dir)).toMatchObject({ state: 'untrusted' })
    await trust()
    await stage.engine.revokeTrust(dir)
    expect(await stage.engine.listTrust()).toEqual([])
    expect((await start()).start.directory.applies).toBe(false)
  })

  it('that cannot be read are never trusted, and hold up nothing', async () => {
    execFileSync('mkfifo', [join(stage.workDir, '.claude/settings.json')])
    const { run, start: started, notes } = await start()
    expect(run).toMatchObject({ outcome: 'completed', directorySettings: 'ignored' })
    expect(started.directory.applies).toBe(false)
    expect(notes).toEqual([expect.stringContaining('is not a regular file')])
    await expect(trust()).rejects.toMatchObject({ code: 'conflict' })
  })

  it('are not mentioned where there are none', async () => {
    const { run, start: started, notes } = await start()
    expect(run.directorySettings).toBe('none')
    // Those that appear later are excluded, too.
    expect(started.directory.applies).toBe(false)
    expect(notes).toEqual([])
  })

  it('are mentioned once in a session, and again when that changes', async () => {
    hooks('evil')
    const { run } = await start()
    const again = { sessionId: run.session! }
    expect((await start(again)).notes).toEqual([])
    await trust()
    expect(await start(again)).toMatchObject({ run: { resumed: true, directorySettings: 'applied' } })
    hooks('worse')
    expect((await start(again)).notes).toEqual([expect.stringContaining('not trusted')])
  })

  it('never apply to a run that must not change anything', async () => {
    hooks('evil')
    await trust()
    expect(await start({ dryRun: true })).toMatchObject({
      start: { directory: { applies: false } },
      run: { directorySettings: 'ignored' },
    })
  })
})

describe('reprise.yaml', () => {
  const project = (text: string) => writeFileSync(join(stage.workDir, 'reprise.yaml'), text)

  it('makes the runs in its directory stricter, once it is trusted', async () => {
    project('run: { permissions: ask-all }\ndryRun: true\n')
    const before = await start({ permissions: 'allow' })
    expect(before.run).toMatchObject({ permissions: 'allow', dryRun: false })
    expect(before.notes).toEqual([expect.stringMatching(/reprise.yaml does not apply: .*not trusted/)])

    expect((await trust()).grants.map(({ text }) => text)).toEqual([
      'run.permissions: "ask-all"',
      'dryRun: true',
    ])
    const after = await start({ permissions: 'allow' })
    expect(after.run).toMatchObject({ permissions: 'ask-all', dryRun: true })
    expect(after.start).toMatchObject({ permissions: 'ask-all', gated: true })

    const elsewhere = join(stage.workDir, '..', 'elsewhere')
    mkdirSync(elsewhere)
    expect((await start({ workDir: elsewhere, permissions: 'allow' })).run.permissions).toBe('allow')
  })

  it('cannot make them looser', async () => {
    project('run: { permissions: allow, sandbox: off }\ndryRun: false\n')
    await trust()
    expect((await start({ permissions: 'ask', dryRun: true })).run).toMatchObject({
      permissions: 'ask',
      dryRun: true,
    })
  })

  it('with settings of the daemon has no effect, and the run says why', async () => {
    project('run: { concurrency: 1000, permissions: ask-all }\n')
    await trust()
    const { run, notes } = await start({ permissions: 'allow' })
    expect(run.permissions).toBe('allow')
    expect(notes).toEqual([expect.stringContaining('run.concurrency: cannot be set in a project file')])
  })
})
