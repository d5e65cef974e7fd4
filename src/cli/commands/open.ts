/** `reprise open`: opens the dashboard in a browser, by a link that signs in once. */
import { spawn } from 'node:child_process'
import { type Command, Option } from 'commander'
import type { Scope } from '../../contract/access.ts'
import { type CliContext, notify, printJson, printLine } from '../base/context.ts'
import { connect } from '../daemon/connect.ts'
import { formatDistance } from '../terminal/amounts.ts'

const EXAMPLES = `
The link signs in one browser, once, within ten minutes. For another browser, or a phone, call this again.

Examples:
  reprise open                              open the dashboard
  reprise open --print                      only print the link
  reprise open --print --name phone --scope answer`

interface OpenOptions {
  print?: boolean
  name?: string
  scope?: Scope
}

export function define(command: Command, context: CliContext): void {
  command
    .description('Opens the dashboard in a browser and signs it in.')
    .option('--print', 'print the link instead of opening a browser')
    .option('--name <name>', 'name of this sign-in, shown in `reprise token`')
    .addOption(
      new Option('--scope <scope>', 'what the browser may do').choices(['read', 'answer', 'act', 'admin']),
    )
    .addHelpText('after', EXAMPLES)
    .action((options: OpenOptions) => open(options, context))
}

async function open({ print, name, scope }: OpenOptions, context: CliContext): Promise<void> {
  const { client } = await connect(context)
  const link = await client.createSignInLink({
    ...(name === undefined ? {} : { name }),
    ...(scope === undefined ? {} : { scope }),
  })
  if (context.json) return printJson(context, link)
  const opened = !print && context.stdout.isTTY === true && (await openBrowser(link.url, context))
  if (opened) return printLine(context, 'The dashboard is opening in your browser.')
  // A printed link is for another browser, perhaps on another device.
  await printLine(context, link.publicUrl ?? link.url)
  notify(
    context,
    `Open it in a browser; it works once, and expires ${formatDistance(link.expiresAt, new Date())}.`,
  )
}

/** The link is an argument of a short-lived process of this user; it is worthless once the browser has used it. */
async function openBrowser(url: string, { env }: CliContext): Promise<boolean> {
  const hasScreen = process.platform === 'darwin' || env.DISPLAY || env.WAYLAND_DISPLAY || env.BROWSER
  if (!hasScreen) return false
  const program = env.BROWSER ?? (process.platform === 'darwin' ? 'open' : 'xdg-open')
  return new Promise((resolve) => {
    const child = spawn(program, [url], { stdio: 'ignore', detached: true })
    child.once('error', () => resolve(false))
    child.once('spawn', () => {
      child.unref()
      resolve(true)
    })
  })
}
