import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { describeClaudeTool } from '../../src/agents/claude/describe-tool.ts'
import type { MaybeDescribed } from '../../src/contract/tool.ts'
import { ALWAYS_PROTECTED, DEFAULT_PROTECTED_PATHS } from '../../src/core/rules/default-paths.ts'
import {
  DEFAULT_BROKER_PROGRAMS,
  DEFAULT_COOLDOWNS,
  DEFAULT_NEVER,
  DEFAULT_TIERS,
} from '../../src/core/rules/defaults.ts'
import { checkTool } from '../../src/core/shell/check-tool.ts'
import { compileToolRules, type TierRules, type ToolRules } from '../../src/core/shell/tool-rules.ts'
import { gatherFacts } from '../../src/engine/enforce/call-facts.ts'

/** `kept` and what is in it is protected, and so are `secret` and `home/.bashrc`; the agent is in `work`. */
const root = realpathSync(mkdtempSync(join(tmpdir(), 'reprise-tools-')))
afterAll(() => rmSync(root, { recursive: true, force: true }))
const home = join(root, 'home')
const cwd = join(root, 'work')
for (const dir of ['home', 'work/sub', 'kept/db', 'secret']) mkdirSync(join(root, dir), { recursive: true })
writeFileSync(join(root, 'kept', 'file'), '')
symlinkSync('../kept', join(cwd, 'to-kept'))
symlinkSync('to-kept', join(cwd, 'to-link'))
symlinkSync('../kept/file', join(cwd, 'to-file'))
symlinkSync('../kept/not-there-yet', join(cwd, 'dangling'))
symlinkSync('../kept/db', join(cwd, 'to-db'))
symlinkSync('circle', join(cwd, 'circle'))
symlinkSync(cwd, join(root, 'way-in'))

const ADVISORY = { home, enforcement: 'advisory', brokered: DEFAULT_BROKER_PROGRAMS } as const

function tier(number: 1 | 2 | 3, change: Partial<TierRules> = {}): ToolRules {
  const rules = DEFAULT_TIERS[number]
  if (!rules) throw new Error(`there is no tier ${number}`)
  return compileToolRules(
    {
      never: DEFAULT_NEVER,
      protectedPaths: [...DEFAULT_PROTECTED_PATHS, `${root}/kept/**`],
      alwaysProtected: [`${root}/secret/**`, '~/.bashrc'],
      cooldowns: DEFAULT_COOLDOWNS,
    },
    { name: `${number} (${rules.name})`, tools: rules.tools, ...rules.commands, ...change },
    ADVISORY,
  )
}

const NOBODY = compileToolRules(
  { never: DEFAULT_NEVER, protectedPaths: [`${root}/kept/**`] },
  undefined,
  ADVISORY,
)
const factsOf = ({ protectedPaths }: ToolRules) =>
  gatherFacts({ home, workDir: cwd, hiddenPaths: [join(root, 'secret', 'token')], protectedPaths })

function ask(
  tool: string,
  input: unknown,
  policy = tier(2),
  options: { dryRun?: boolean; cwd?: string } = {},
) {
  const described = describeClaudeTool(tool, input)
  return checkTool({ tool, input, cwd: options.cwd ?? cwd, described }, policy, factsOf(policy), options)
}

const DENIED = { decision: 'deny' }
const ALLOWED = { decision: 'allow', reason: expect.stringMatching(/^Allowed/) }

describe('which tools', () => {
  test.each([
    ['Read', 1, true],
    ['Write', 1, false],
    ['Edit', 1, false],
    ['MultiEdit', 1, false],
    ['CronCreate', 1, false],
    ['CronList', 1, false],
    ['CronDelete', 1, false],
    ['ScheduleWakeup', 1, false],
    ['Task', 1, true],
    ['Agent', 1, true],
    ['BashOutput', 1, true],
    ['KillShell', 1, true],
    ['TaskOutput', 1, true],
    ['TaskStop', 1, true],
    ['StructuredOutput', 1, true],
    ['ToolSearch', 1, true],
    ['TodoWrite', 1, true],
    ['TaskCreate', 1, true],
    ['TaskUpdate', 1, true],
    ['TaskList', 1, true],
    ['AskUserQuestion', 1, false],
    ['mcp__pager__call', 1, false],
    ['SomethingNew', 1, false],
    ['constructor', 1, false],
    ['', 1, false],
    ['CronCreate', 2, true],
    ['CronList', 2, true],
    ['CronDelete', 2, true],
    ['ScheduleWakeup', 2, true],
    ['ScheduleWakeup', 3, true],
    ['SomethingNew', 3, false],
  ] as const)('%s at tier %i: %s', (tool, number, has) => {
    expect(ask(tool, {}, tier(number))).toMatchObject(has ? ALLOWED : { ...DENIED, rule: 'tools' })
  })

  test('the reason names the tier and the way out', () => {
    expect(ask('Write', {}, tier(1)).reason).toBe(
      'Write is not one of the tools at tier 1 (observe). Do without it, and recommend escalation if it is needed.',
    )
  })

  test('what is listed is had, also if nothing is known of it', () => {
    const policy = tier(2, { tools: ['mcp__pager', 'mcp__chat__say', 'mcp__mail__*', 'Frobnicate', 'Edit'] })
    const has = (tool: string) => ask(tool, { file_path: 'x' }, policy).decision === 'allow'
    expect(['mcp__pager__call', 'mcp__pager__hang__up', 'mcp__mail__send'].map(has)).toEqual([
      true,
      true,
      true,
    ])
    expect(['mcp__chat__say', 'Frobnicate', 'MultiEdit'].map(has)).toEqual([true, true, true])
    expect(['mcp__chat__shout', 'mcp__pagers__call', 'Write', 'Bash', 'BashOutput'].map(has)).toEqual(
      Array(5).fill(false),
    )
  })

  test('what is denied is not had', () => {
    const policy = tier(2, { deniedTools: ['Write', 'Task', 'mcp__pager__call', 'TodoWrite'] })
    for (const tool of ['Write', 'Task', 'Agent', 'TodoWrite'])
      expect(ask(tool, { file_path: 'x' }, policy)).toMatchObject({
        ...DENIED,
        reason: expect.stringContaining('is denied at tier 2'),
      })
    expect(ask('Edit', { file_path: 'x' }, policy)).toMatchObject(ALLOWED)
    const server = tier(2, { tools: ['mcp__pager'], deniedTools: ['mcp__pager__call'] })
    expect(ask('mcp__pager__call', {}, server)).toMatchObject(DENIED)
    expect(ask('mcp__pager__list', {}, server)).toMatchObject(ALLOWED)
  })

  test('without tools that write, a shell may not write either', () => {
    const policy = tier(2, { deniedTools: ['Write', 'Edit'] })
    expect(ask('Bash', { command: 'echo x > out' }, tier(2))).toMatchObject(ALLOWED)
    expect(ask('Bash', { command: 'echo x > out' }, policy)).toMatchObject({ ...DENIED, rule: 'write' })
    expect(ask('Bash', { command: 'echo x > /srv/out' }, tier(2))).toMatchObject({ ...DENIED, rule: 'write' })
  })

  test('without a tier every tool is had, and what no tier may do is refused', () => {
    expect(ask('SomethingNew', {}, NOBODY)).toMatchObject(ALLOWED)
    expect(ask('Write', { file_path: '../kept/x' }, NOBODY)).toMatchObject(DENIED)
    expect(ask('Bash', { command: 'docker system prune' }, NOBODY)).toMatchObject(DENIED)
  })
})

describe('Bash', () => {
  test('is checked where the agent is', () => {
    expect(ask('Bash', { command: 'rm file' })).toMatchObject({ ...ALLOWED, commands: ['rm file'] })
    expect(ask('Bash', { command: 'rm file' }, tier(2), { cwd: join(root, 'kept') })).toMatchObject(DENIED)
    expect(ask('Bash', { command: 'rm to-kept/file' })).toMatchObject(DENIED)
    expect(
      ask('Bash', { command: 'rm kept/file' }, tier(2), { cwd: join(root, 'way-in', '..') }),
    ).toMatchObject(DENIED)
    expect(ask('Bash', { command: 'tee dangling' }, tier(3))).toMatchObject(DENIED)
    expect(ask('Bash', { command: `tee ${root}/secret/x` }, tier(3))).toMatchObject(DENIED)
    expect(ask('Bash', { command: 'tee ~/.bashrc' }, tier(3))).toMatchObject(DENIED)
  })

  test.each([[{}], [{ command: 7 }], [{ command: ['rm'] }], [null], ['rm x'], [undefined]])(
    '%j is no command',
    (input) => {
      expect(ask('Bash', input, tier(3))).toMatchObject({ ...DENIED, rule: 'input' })
    },
  )

  test('says what it would do that has a cooldown', () => {
    expect(ask('Bash', { command: 'docker restart web && systemctl restart db' })).toMatchObject({
      ...ALLOWED,
      actions: [
        { rule: 'restart', service: 'web', scope: null, command: 'docker restart web' },
        { rule: 'restart', service: 'db', scope: null, command: 'systemctl restart db' },
      ],
    })
    expect(ask('Bash', { command: 'docker restart web; docker compose down' })).toMatchObject({
      ...DENIED,
      actions: [],
    })
  })

  test('what cannot be counted is refused, at every tier that could run it', () => {
    for (const number of [2, 3] as const) {
      expect(ask('Bash', { command: 'docker restart "$X"' }, tier(number))).toMatchObject({
        ...DENIED,
        rule: 'cooldowns.restart',
        reason: expect.stringContaining('which has a cooldown. Write the commands out'),
      })
    }
  })

  test('a tool that runs a shell text is checked like it', () => {
    const policy = tier(3, { tools: ['Monitor'] })
    expect(ask('Monitor', { command: 'docker system prune' }, policy)).toMatchObject(DENIED)
    expect(ask('Monitor', { command: 'tail -f log' }, policy)).toMatchObject(ALLOWED)
  })
})

describe('an agent in a place of its own', () => {
  const isolated = (isolation: unknown) => ({ prompt: 'look', isolation })
  const ISOLATION = { ...DENIED, rule: 'isolation' }

  test.each(['Agent', 'Task'])('%s has a work tree only where files may be written', (tool) => {
    expect(ask(tool, isolated('worktree'), tier(1))).toMatchObject(ISOLATION)
    expect(ask(tool, isolated('worktree'), tier(2, { deniedTools: ['Write', 'Edit'] }))).toMatchObject(
      ISOLATION,
    )
    expect(ask(tool, isolated('worktree'), tier(2))).toMatchObject(ALLOWED)
    expect(ask(tool, isolated('worktree'), NOBODY)).toMatchObject(ALLOWED)
    expect(ask(tool, isolated('worktree'), tier(2), { dryRun: true })).toMatchObject({
      ...DENIED,
      rule: 'dry-run',
    })
  })

  test.each([['remote'], ['Worktree'], [true], [{}]])('%j is refused at every tier', (isolation) => {
    for (const policy of [tier(1), tier(2), tier(3), NOBODY])
      expect(ask('Agent', isolated(isolation), policy)).toMatchObject(ISOLATION)
  })

  test.each([[undefined], [null], ['']])('%j is none', (isolation) => {
    expect(ask('Agent', isolated(isolation), tier(1))).toMatchObject(ALLOWED)
    expect(ask('Agent', isolated(isolation), tier(1), { dryRun: true })).toMatchObject(ALLOWED)
  })
})

describe('what is always protected', () => {
  const always = (number: 2 | 3) => {
    const rules = DEFAULT_TIERS[number]
    if (!rules) throw new Error(`there is no tier ${number}`)
    const { name, tools, commands } = rules
    const protection = { never: [], protectedPaths: [], alwaysProtected: ALWAYS_PROTECTED }
    return compileToolRules(protection, { name, tools, ...commands }, ADVISORY)
  }

  test.each([
    '.git/config',
    'sub/.git',
    'sub/.git/hooks/pre-commit',
    '.git/commondir',
    '.git/worktrees/x/commondir',
    '.git/remotes/up',
    '.git/branches/up',
    '~/.gitconfig',
    '/etc/gitconfig',
    '/etc/systemd/system/x.service',
    '/usr/local/bin/docker',
    '~/.local/lib/python3.11/site-packages/e.pth',
    '~/.local/share/systemd/user/x.service',
    '~/.config/systemd/user/x.service',
    '~/.ssh/config',
    '.claude/settings.local.json',
    '.claude/agents/x.md',
    '~/.claude/settings.json',
    '.mcp.json',
    'reprise.yaml',
    '~/bin/docker',
    '/etc/cron.daily/x',
    '/etc/profile.d/x.sh',
  ])('%s', (path) => {
    for (const number of [2, 3] as const)
      expect(ask('Write', { file_path: path, content: '' }, always(number))).toMatchObject(DENIED)
  })

  test.each(['.gitignore', '.github/x', '.claude/worktrees/x/src/a.ts', 'docs/claude.json', '~/notes'])(
    'not %s',
    (path) => {
      expect(ask('Write', { file_path: path, content: '' }, always(2))).toMatchObject(ALLOWED)
    },
  )

  test('a work tree as a whole may be changed although such files are in it', () => {
    mkdirSync(join(cwd, 'repository/.git/hooks'), { recursive: true })
    for (const name of ['.git/config', '.mcp.json', 'reprise.yaml'])
      writeFileSync(join(cwd, 'repository', name), '')
    for (const command of ['git pull', 'git stash', 'chmod -R u+w .'])
      expect(ask('Bash', { command }, always(2), { cwd: join(cwd, 'repository') }), command).toMatchObject(
        ALLOWED,
      )
  })
})

describe('files', () => {
  const paths = {
    open: [
      'new',
      'sub/new',
      './new',
      `${cwd}/new`,
      'sub/../new',
      'made/up/dirs/new',
      '~/notes',
      '../other',
      'circle',
    ],
    kept: [
      '../kept/file',
      `${root}/kept`,
      `${root}/kept/db/deep/new`,
      'sub/../../kept/new',
      'to-kept/new',
      'to-kept',
      'to-link/new',
      'to-file',
      'dangling',
      'to-db/../file',
      `${root}/way-in/to-kept/x`,
      'ie.yaml',
      'sub/.git/hooks/pre-commit',
      ` ${root}/kept/file`,
      `${root}/kept/file\n`,
      `../secret/x`,
      '~/.bashrc',
      '~/../kept/file',
    ],
  }

  test.each(paths.open)('%j may be changed', (path) => {
    expect(ask('Write', { file_path: path, content: '' })).toMatchObject(ALLOWED)
    expect(ask('NotebookEdit', { notebook_path: path })).toMatchObject(ALLOWED)
  })

  test.each(paths.kept)('%j may not be changed, at no tier', (path) => {
    for (const number of [2, 3] as const) {
      for (const tool of ['Write', 'Edit', 'MultiEdit']) {
        expect(ask(tool, { file_path: path }, tier(number))).toMatchObject({
          ...DENIED,
          reason: expect.stringMatching(/which is protected \(.*\)\. Leave it as it is/),
        })
      }
      expect(ask('NotebookEdit', { notebook_path: path }, tier(number))).toMatchObject(DENIED)
    }
  })

  test.each(['/proc/self/cwd/x', '/dev/fd/3/x', '/proc/1/root/x'])('%s may lead anywhere', (path) => {
    expect(ask('Write', { file_path: path, content: '' })).toMatchObject({ ...DENIED, rule: 'detour' })
  })

  test.each([
    [{}],
    [{ file_path: '' }],
    [{ file_path: ' ' }],
    [{ file_path: 3 }],
    [{ file_path: 'a\0b' }],
    [null],
  ])('%j names no file', (input) => {
    expect(ask('Write', input)).toMatchObject({ ...DENIED, rule: 'input' })
  })

  test('looking at protected files is allowed', () => {
    expect(ask('Read', { file_path: `${root}/kept/file` })).toMatchObject(ALLOWED)
  })
})

describe('in a dry run', () => {
  const rehearse = (tool: string, input: unknown, policy = tier(3)) =>
    ask(tool, input, policy, { dryRun: true })

  test.each([
    ['Bash', { command: 'docker ps; curl -s localhost | jq .' }],
    ['Bash', { command: 'journalctl -u web > /tmp/log' }],
    ['Read', { file_path: 'x' }],
    ['Grep', { pattern: 'x' }],
    ['WebFetch', {}],
    ['Task', { prompt: 'look' }],
    ['Agent', { prompt: 'look' }],
    ['CronList', {}],
    ['TodoWrite', {}],
    ['StructuredOutput', {}],
    ['BashOutput', {}],
  ])('%s %j looks, and may', (tool, input) => {
    expect(rehearse(tool, input)).toMatchObject(ALLOWED)
  })

  test.each([
    ['Bash', { command: 'docker restart web' }],
    ['Bash', { command: 'ls > /srv/out' }],
    ['Bash', { command: 'make' }],
    ['Bash', { command: 'docker ps && rm x' }],
    ['Write', { file_path: 'x' }],
    ['MultiEdit', { file_path: 'x' }],
    ['CronCreate', {}],
    ['ScheduleWakeup', {}],
    ['mcp__pager__call', {}],
  ])('%s %j would change something, and is only reported', (tool, input) => {
    const policy = tier(3, { tools: [...(DEFAULT_TIERS[3]?.tools ?? []), 'mcp__pager'] })
    expect(ask(tool, input, policy)).toMatchObject(ALLOWED)
    expect(rehearse(tool, input, policy)).toMatchObject({
      ...DENIED,
      rule: 'dry-run',
      dryRun: true,
      reason: expect.stringMatching(/^This is a dry run.* would have been allowed at tier 3 .* report/),
    })
  })

  test('says what would have been done', () => {
    expect(rehearse('Bash', { command: 'docker restart web' })).toMatchObject({
      commands: ['docker restart web'],
      actions: [{ rule: 'restart', service: 'web' }],
      reason: expect.stringContaining('`docker restart web` would have been allowed'),
    })
  })

  test('what the rules refuse is refused by them', () => {
    for (const [tool, input] of [
      ['Bash', { command: 'docker system prune' }],
      ['Bash', { command: 'docker restart $X' }],
      ['Write', { file_path: '../kept/x' }],
      ['SomethingNew', {}],
    ] as const) {
      const answer = rehearse(tool, input)
      expect(answer).toMatchObject(DENIED)
      expect(answer.dryRun).toBeUndefined()
    }
  })
})

test('what goes wrong lets nothing through', () => {
  const broken = {
    ...factsOf(tier(2)),
    realPath: () => {
      throw new Error('the disk is gone')
    },
  }
  const described = { kind: 'write' as const, paths: ['x'] }
  expect(checkTool({ tool: 'Write', input: {}, cwd, described }, tier(2), broken)).toMatchObject({
    ...DENIED,
    rule: 'unreadable',
    reason: expect.stringContaining('the disk is gone'),
  })
})

describe('with a sandbox', () => {
  const rules = DEFAULT_TIERS[2]
  const policy = compileToolRules(
    { never: DEFAULT_NEVER, protectedPaths: [`${root}/kept/**`], cooldowns: DEFAULT_COOLDOWNS },
    rules && { name: '2', tools: rules.tools, ...rules.commands },
    { ...ADVISORY, enforcement: 'kernel' },
  )

  test('a shell text that cannot be read is left to it, and tools that write are still checked', () => {
    expect(ask('Bash', { command: 'make deploy; $X > /srv/x' }, policy)).toMatchObject({
      ...ALLOWED,
      unclear: [{ text: '$X > /srv/x' }],
    })
    expect(ask('Bash', { command: 'docker system prune' }, policy)).toMatchObject(DENIED)
    expect(ask('Write', { file_path: '../kept/x' }, policy)).toMatchObject(DENIED)
    expect(ask('SomethingNew', {}, policy)).toMatchObject({ ...DENIED, rule: 'tools' })
  })

  test('the broker counts actions, so none are returned', () => {
    expect(ask('Bash', { command: 'docker restart web' }, policy)).toMatchObject({
      ...ALLOWED,
      actions: [],
      brokered: ['docker'],
    })
  })

  test('in a dry run only what is known to look may run', () => {
    expect(ask('Bash', { command: 'docker ps | grep x' }, policy, { dryRun: true })).toMatchObject(ALLOWED)
    for (const command of ['docker restart web', 'ls $X', 'make'])
      expect(ask('Bash', { command }, policy, { dryRun: true })).toMatchObject({ ...DENIED, dryRun: true })
  })
})

describe('a tool that only its adapter knows', () => {
  const policy = tier(3, { tools: ['mcp__x'] })
  const askAbout = (described: MaybeDescribed, options = {}) =>
    checkTool({ tool: 'mcp__x__do', input: {}, cwd, described }, policy, factsOf(policy), options)

  test('is checked by what it does', () => {
    expect(askAbout({ kind: 'shell', command: 'ls' }).decision).toBe('allow')
    expect(askAbout({ kind: 'shell', command: 'docker system prune' }).decision).toBe('deny')
    expect(askAbout({ kind: 'write', paths: ['a', '/volumes/x'] }).decision).toBe('deny')
    expect(askAbout({ kind: 'write', paths: ['a'] }).decision).toBe('allow')
  })

  test('cannot read what is hidden from agents', () => {
    expect(askAbout({ kind: 'read', paths: ['~/.ssh/id_rsa'] }).rule).toBe('hidden')
    expect(askAbout({ kind: 'read', paths: ['readme'] }).decision).toBe('allow')
  })

  test('is refused where it does not say what it would run or change', () => {
    for (const kind of ['shell', 'write'] as const) expect(askAbout({ kind }).rule).toBe('input')
    expect(askAbout({ kind: 'write', paths: [] }).rule).toBe('input')
    expect(askAbout({}).rule).toBe('input')
  })

  test('may look in a dry run, and nothing else', () => {
    expect(askAbout({ kind: 'read' }, { dryRun: true }).decision).toBe('allow')
    expect(askAbout({ kind: 'other' }, { dryRun: true }).rule).toBe('dry-run')
  })
})
