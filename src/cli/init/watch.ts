/**
 * `reprise init watch`: writes a watch, three tiers and their prompts into the home. Existing files are changed only
 * with --force, and then a copy is kept.
 */
import { randomBytes } from 'node:crypto'
import { copyFile, mkdir, readFile, stat, writeFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { ensureHome } from '../../config/home.ts'
import { type CliContext, notify, printJson, printLine } from '../base/context.ts'
import { EXIT } from '../base/exit-code.ts'
import { print } from '../base/output.ts'
import { usageError } from '../base/usage-error.ts'
import { findDaemon, homeOf } from '../daemon/link.ts'
import { TIER_PROMPTS } from './prompts.ts'
import { addToSettings, exampleSettings, isEmptySettings } from './settings.ts'

export interface InitWatchOptions {
  name: string
  dir?: string
  url: string
  container: string
  every: string
  force?: boolean
}

export async function initWatch(options: InitWatchOptions, context: CliContext): Promise<void> {
  const workDir = resolve(context.cwd, options.dir ?? '.')
  if (!(await stat(workDir).catch(() => null))?.isDirectory()) {
    throw usageError(`${workDir} is not a directory`, 'Give --dir a directory that exists.')
  }
  const home = homeOf(context)
  const file = join(home, 'config.yaml')
  const example = { ...options, workDir, hookSecret: randomBytes(24).toString('base64url') }
  const before = await readIfThere(file)
  if (before !== null && !isEmptySettings(before) && !options.force) {
    // The printed settings refer to the prompts, so they are written; existing ones are left unchanged.
    return refuse(
      { file, written: await writePrompts(home, false), snippet: exampleSettings(example) },
      context,
    )
  }
  ensureHome(home)
  const written = [file]
  if (before === null || isEmptySettings(before)) {
    await writePrivately(file, `${before ?? ''}${exampleSettings(example)}`)
  } else {
    const changed = addToSettings(before, example, file)
    await copyFile(file, `${file}.before-init`)
    await writePrivately(file, changed)
    written.push(`${file}.before-init`)
  }
  written.push(...(await writePrompts(home, options.force === true)))
  await tell(written, { name: options.name, home }, context)
}

interface Refusal {
  file: string
  written: string[]
  snippet: string
}

async function refuse({ file, written, snippet }: Refusal, context: CliContext): Promise<void> {
  context.exitCode = EXIT.failed
  if (context.json) return printJson(context, { written, file, snippet })
  for (const prompt of written) notify(context, `wrote ${prompt}`)
  notify(
    context,
    `${file} exists and was not changed. Add the following to it (below watches and tiers if it has them), or use --force:`,
  )
  await print(context.stdout, snippet)
}

/** Existing prompts are left unchanged without --force: the user may have edited them. */
async function writePrompts(home: string, force: boolean): Promise<string[]> {
  const written: string[] = []
  for (const { file, text } of TIER_PROMPTS) {
    const path = join(home, file)
    await mkdir(dirname(path), { recursive: true, mode: 0o700 })
    const before = await readIfThere(path)
    if (before !== null && (before === text || !force)) continue
    if (before !== null) await copyFile(path, `${path}.before-init`)
    await writePrivately(path, text)
    written.push(path)
  }
  return written
}

async function tell(
  written: readonly string[],
  { name, home }: { name: string; home: string },
  context: CliContext,
): Promise<void> {
  const running = await findDaemon(home)
  const next = [
    ...(running ? ['reprise down', 'reprise up'] : ['reprise up']),
    `reprise watch trigger --follow ${name}`,
    `reprise watch show ${name}`,
  ]
  if (context.json) return printJson(context, { written, watch: name, next })
  for (const file of written) await printLine(context, `wrote ${file}`)
  notify(context, 'Read these files, above all the prompts: they say what the agents do. Then:')
  for (const command of next) notify(context, `  ${command}`)
  notify(
    context,
    `To send it alerts, POST to /api/hooks/${name} with its hookSecret as bearer token:\n  curl -H "Authorization: Bearer HOOK_SECRET" -d '{"title":"disk full"}' ${running?.url ?? 'http://127.0.0.1:7717'}/api/hooks/${name}`,
  )
}

async function readIfThere(file: string): Promise<string | null> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw usageError(`cannot read ${file}: ${(error as Error).message}`)
  }
}

/** Readable only by the user: the settings contain a secret. */
async function writePrivately(file: string, text: string): Promise<void> {
  await writeFile(file, text, { mode: 0o600 })
}
