/** The package as others get it: packed, installed into an empty project, and used by each of its entries. */
import { readdirSync, readFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { join, resolve } from 'node:path'
import { rolldown } from 'rolldown'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { World } from '../support/world.ts'
import { findOldNode, install, installedProject, type Project } from './project.ts'

const ROOT = resolve(import.meta.dirname, '../..')
const OLD_NODE = findOldNode()
/** Without the directories of this checkout, in which the agent and Node 24 would be found. */
const PATH = '/usr/local/bin:/usr/bin:/bin'

let project: Project
let world: World
beforeAll(async () => {
  world = await World.create({ name: 'package', rules: [{ reply: 'You said: ${user}' }] })
  project = await installedProject()
  install(project, '.bin/claude')
}, 600_000)
afterAll(async () => {
  project?.close()
  await world?.close()
})

it('has what it needs and nothing else', () => {
  const package_ = join(project.dir, 'node_modules', 'reprise')
  const { files } = project
  expect(files.filter((file) => /^(src|test|scripts|bench)\/|\.map$|(?<!\.d)\.ts$/.test(file))).toEqual([])
  for (const name of [
    'keeper.sh',
    'sandbox.sh',
    'shim.sh',
    'runner.sh',
    'git-shim.sh',
    'relay.js',
    'reading-thread.js',
  ]) {
    expect(files).toContain(`dist/lib/${name}`)
    expect(files).toContain(`dist/app/${name}`)
  }
  expect(files).toContain('dist/licenses.txt')
  for (const file of files.filter((name) => name.startsWith('dist/'))) {
    expect(readFileSync(join(package_, file), 'utf8'), file).not.toContain(ROOT)
  }
  const { devDependencies: _, ...manifest } = JSON.parse(readFileSync(join(package_, 'package.json'), 'utf8'))
  expect(manifest).toMatchObject({ name: 'reprise', dependencies: { zod: expect.anything() } })
  expect(manifest).not.toHaveProperty('private')
  // Only what the package depends on was installed with it.
  expect(readdirSync(join(project.dir, 'node_modules')).filter((name) => !name.startsWith('.'))).toEqual([
    'reprise',
    'zod',
  ])
})

it('runs the engine in process, on the agent that the project has installed', async () => {
  project.write(
    'engine.js',
    `import { openReprise, RepriseError } from 'reprise'
import { startSimulator } from 'reprise/simulator'
const simulator = await startSimulator({ scenario: { name: 'own', rules: [{ reply: 'From the engine.' }] } })
const env = { ...process.env, ANTHROPIC_BASE_URL: simulator.url }
const reprise = await openReprise({ home: 'state', env, agents: { claude: { model: 'haiku' } } })
const run = await reprise.run({ prompt: 'hello' })
const types = []
for await (const event of run) types.push(event.type)
const { outcome, resultText } = await run.result()
const refused = await reprise.run({ prompt: '' }).catch((error) => error instanceof RepriseError && error.code)
await reprise.close()
await simulator.close()
console.log(JSON.stringify({ ends: types.filter((type) => type === 'run-end').length, last: types.at(-1), outcome, resultText, refused }))
`,
  )
  const env = { ...world.env, PATH, ANTHROPIC_BASE_URL: '' }
  const { stdout, stderr } = await project.run(process.execPath, ['engine.js'], env)
  expect(stderr).toBe('')
  expect(JSON.parse(stdout)).toEqual({
    ends: 1,
    last: 'run-end',
    outcome: 'completed',
    resultText: 'From the engine.',
    refused: 'bad-request',
  })
})

it('runs the example of the README, word for word', async () => {
  const readme = readFileSync(join(project.dir, 'node_modules', 'reprise', 'README.md'), 'utf8')
  const [, example = ''] = /^## As a library$.*?^```js\n(.*?)^```$/ms.exec(readme) ?? []
  project.write('example.js', example)
  // An empty variable counts as not set, so this is the default home.
  const env = { ...world.env, PATH, REPRISE_HOME: '' }
  const { stdout, stderr, code } = await project.run(process.execPath, ['example.js'], env)
  expect({ stderr, code }).toEqual({ stderr: '', code: 0 })
  expect(stdout).toBe('You said: List the files here.\ncompleted\nYou said: Which one is the largest?\n')
  const [first, second] = world.simulator.requests({ kind: 'main' })
  expect(second?.sessionId).toBe(first?.sessionId)
  expect(JSON.stringify(second?.messages)).toContain('List the files here.')
  expect(world.processes()).toEqual([])
})

it('runs the example of the provider, word for word', async () => {
  const guide = readFileSync(join(project.dir, 'node_modules', 'reprise', 'docs', 'provider.md'), 'utf8')
  const [, example = ''] = /^```js\n(.*?)^```$/ms.exec(guide) ?? []
  project.write('provider.js', example)
  const { stdout, stderr, code } = await project.run(process.execPath, ['provider.js'], {
    ...world.env,
    PATH,
  })
  expect({ stderr, code }).toEqual({ stderr: '', code: 0 })
  expect(stdout).toBe('You said: List the files here.\nYou said: Which one is the largest?\n')
  const [first, second] = world.simulator.requests({ kind: 'main' }).slice(-2)
  expect(second?.sessionId).toBe(first?.sessionId)
  expect(world.processes()).toEqual([])
})

it('starts the CLI and the daemon, with the Node that npm has installed beside the package', async () => {
  const env = { ...world.env, PATH, REPRISE_HOME: join(world.dir, 'cli'), REPRISE_PORT: '0' }
  const cli = join('node_modules', '.bin', 'reprise')
  if (OLD_NODE !== null) {
    const alone = await project.run(cli, ['--version'], env)
    expect(alone).toMatchObject({ code: 1, stderr: expect.stringContaining('needs Node 24 or newer') })
  }
  install(project, 'node/bin/node')
  expect(await project.run(cli, ['--version'], env)).toMatchObject({ code: 0, stderr: '' })
  const done = await project.run(cli, ['run', '--model', 'haiku', 'hello from a shell'], env)
  try {
    expect(done).toMatchObject({ code: 0, stdout: expect.stringContaining('You said: hello from a shell') })
    project.write(
      'client.js',
      `import { readFileSync } from 'node:fs'
import { createClient, RepriseError } from 'reprise/client'
const home = process.env.REPRISE_HOME
const { url } = JSON.parse(readFileSync(home + '/daemon.json', 'utf8'))
const client = createClient({ url, token: readFileSync(home + '/token', 'utf8').trim() })
const [job] = (await client.listJobs()).items
const types = []
for await (const event of client.jobEvents(job.id)) types.push(event.type)
const unknown = await client.getRun('run_1').catch((error) => error instanceof RepriseError && error.code)
console.log(JSON.stringify({ state: job.state, last: types.at(-1), unknown }))
`,
    )
    // The client needs no more than Node 20.
    const read = await project.run(OLD_NODE ?? process.execPath, ['client.js'], env)
    expect(read.stderr).toBe('')
    expect(JSON.parse(read.stdout)).toEqual({ state: 'completed', last: 'run-end', unknown: 'bad-request' })
  } finally {
    await project.run(cli, ['down'], env)
  }
})

it.skipIf(OLD_NODE === null)('says in one sentence which Node it needs', async () => {
  for (const entry of ['reprise', 'reprise/provider', 'reprise/simulator']) {
    const { stderr, code } = await project.run(OLD_NODE ?? '', [
      '--input-type=module',
      '-e',
      `import '${entry}'`,
    ])
    expect(code).toBe(1)
    expect(stderr).toMatch(
      /^\[?Error: reprise needs Node 24 or newer, but this is Node 2\d\.\d+\.\d+; .*\.]?$/m,
    )
    expect(stderr).not.toMatch(/^ {4}at /m)
    expect(stderr).not.toContain('sqlite')
  }
})

it('has declarations that a strict program compiles with, without those of Node', async () => {
  project.write(
    'program.ts',
    `import { openReprise, RepriseError, type RunEvent, type OpenOptions } from 'reprise'
import { createClient, type Client } from 'reprise/client'
import { createProvider, type ExecuteOptions, type ProviderMessage } from 'reprise/provider'
import { startSimulator } from 'reprise/simulator'

const options: OpenOptions = { home: '/tmp/x', daemon: 'refuse', agents: { fast: { adapter: 'claude', model: 'haiku' } } }
export async function main(signal: AbortSignal): Promise<string | null> {
  await using reprise = await openReprise({ ...options, log: ({ level, message }) => void (level + message) })
  const run = await reprise.run({ prompt: 'hello', permissions: 'ask' }, { signal })
  for await (const event of run) {
    if (event.type === 'text-delta') show(event.text)
    if (event.type === 'run-end') show(event.outcome.name)
  }
  // @ts-expect-error: there is no such option
  await reprise.run({ prompt: 'hello', promt: '' })
  // @ts-expect-error: a prompt is a text
  await reprise.run({ prompt: 5 })
  const job = await reprise.job({ prompt: 'hello', maxResumes: 2 })
  const { state } = await job.result()
  const watch = await reprise.createWatch({ name: 'web', workDir: '/tmp', prompt: 'look', every: '30m' })
  return state === 'completed' && watch.id.startsWith('wch_') ? (await run.result()).resultText : null
}
const show = (text: string): void => void text
export const isRefusal = (error: unknown) => error instanceof RepriseError && error.code === 'agent-unknown'
export const follow = (client: Client, id: string): AsyncGenerator<RunEvent, void> => client.events(id)
export const client = createClient({ url: 'http://127.0.0.1:7717', token: '' })
export async function ask(asked: ExecuteOptions): Promise<string | undefined> {
  await using provider = await createProvider({ dataDir: '/tmp/x' })
  const query = provider.executeQuery({ ...asked, canUseTool: async (tool) => ({ behavior: 'deny', message: tool }) })
  const seen: ProviderMessage[] = []
  for await (const message of query) {
    seen.push(message)
    if (message.type === 'result') return query.taken?.way === 'resumed' ? message.result : message.session_id
  }
  return undefined
}
export const simulator = startSimulator({ scenario: { name: 'x', rules: [{ reply: 'y' }] } })
`,
  )
  project.write(
    'tsconfig.json',
    JSON.stringify({
      compilerOptions: {
        target: 'es2024',
        lib: ['es2024', 'esnext.disposable', 'dom', 'dom.asynciterable'],
        module: 'nodenext',
        types: [],
        noEmit: true,
        strict: true,
        exactOptionalPropertyTypes: true,
        skipLibCheck: false,
      },
      files: ['program.ts'],
    }),
  )
  const compiler = join(ROOT, 'node_modules', '.bin', 'tsc')
  expect(await project.run(compiler, ['--project', '.'], { PATH })).toEqual({
    stdout: '',
    stderr: '',
    code: 0,
  })
})

it('has a client that can be bundled for a browser', async () => {
  const entry = project.write(
    'page.js',
    "import { createClient } from 'reprise/client'\nglobalThis.client = createClient({ url: location.origin, token: '' })\n",
  )
  const bundle = await rolldown({ input: entry, cwd: project.dir, platform: 'browser', logLevel: 'silent' })
  const { output } = await bundle.generate({ format: 'esm' })
  await bundle.close()
  const chunks = output.filter((file) => file.type === 'chunk')
  expect(chunks.flatMap(({ imports, dynamicImports }) => [...imports, ...dynamicImports])).toEqual([])
  const modules = chunks.flatMap(({ moduleIds }) => moduleIds)
  expect(modules.filter((id) => isBuiltin(id) || id.includes('/zod/'))).toEqual([])
  expect(chunks.map(({ code }) => code).join('\n')).not.toMatch(/\bprocess\.|\brequire\(|node:/)
})
