/** `reprise demo`: the main story on real processes and the simulator, in a home of its own. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Command } from 'commander'
import type { Environment } from '../../config/environment.ts'
import { type CliContext, notify, printJson, printLine } from '../base/context.ts'
import { EXIT } from '../base/exit-code.ts'
import { startInBackground } from '../daemon/process.ts'
import { stopDaemon } from '../daemon/stop.ts'
import { DEMO_SCENARIO } from '../demo/scenario.ts'
import { playChat, playIncident, playJob, tell, tellSavings } from '../demo/story.ts'
import { isInteractive } from '../terminal/dialogue.ts'

const EXAMPLES = `
Shows in under a minute what Reprise does: a chat that resumes, a job that is killed and continued, an incident through
three tiers with a follow-up. The agents are real, the model is scripted, no key is needed. Everything is in a temporary
directory of its own; your own home and configuration are not touched.

On a terminal the dashboard stays open until Ctrl-C. Elsewhere the demo ends by itself. Nothing is left behind.`

export function define(command: Command, context: CliContext): void {
  command
    .description('Plays a chat, a job and an incident on real agents with a scripted model.')
    .addHelpText('after', EXAMPLES)
    .action(() => demo(context))
}

async function demo(outer: CliContext): Promise<void> {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), 'reprise-demo-')))
  const [home, workDir] = [join(dir, 'home'), join(dir, 'work')]
  mkdirSync(workDir)
  writeFileSync(join(workDir, 'web.state'), 'down\n')
  const scenario = join(dir, 'scenario.yaml')
  // JSON is valid YAML.
  writeFileSync(scenario, JSON.stringify(DEMO_SCENARIO))
  const context: CliContext = {
    ...outer,
    cwd: workDir,
    env: { ...withoutCredentials(outer.env), HOME: dir, REPRISE_HOME: home, REPRISE_PORT: '0' },
    interrupt: () => process.exit(EXIT.interrupted),
  }
  const { promise: interrupted, resolve: interrupt } = Promise.withResolvers<void>()
  const interruptBefore = outer.interrupt
  outer.interrupt = () => context.interrupt()
  let isStarted = false
  context.interrupt = interrupt
  try {
    const { link } = await startInBackground(context, home, ['--scenario', scenario])
    isStarted = true
    const stage = { client: link.client, workDir, context }
    const dashboard = (await link.client.createSignInLink()).url
    await tell(stage, 'Reprise demo', `In ${dir}, with a daemon of its own at ${link.url}.`)
    const story = (async () => {
      await playChat(stage)
      await playJob(stage)
      await playIncident(stage)
      await tellSavings(stage)
    })()
    // An interrupted story fails when its daemon goes away.
    story.catch(() => {})
    const ended = await Promise.race([story.then(() => true), interrupted.then(() => false)])
    if (!ended) outer.exitCode = EXIT.interrupted
    else if (context.json) await printJson(context, { type: 'demo-end', dashboard })
    else if (isInteractive(outer)) {
      await printLine(context, `\nDashboard: ${dashboard}`)
      notify(context, 'Look around. Ctrl-C ends the demo and removes everything.')
      await interrupted
    }
  } finally {
    outer.interrupt = interruptBefore
    if (isStarted) await stopDaemon(context, { cancel: true, force: true, quiet: true })
    rmSync(dir, { recursive: true, force: true })
  }
}

const withoutCredentials = (env: Environment): Environment =>
  Object.fromEntries(Object.entries(env).filter(([name]) => !/^(ANTHROPIC|CLAUDE|REPRISE)/.test(name)))
