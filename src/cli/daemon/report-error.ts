/** Reports the failure of a command: on stderr for people, as JSON on stdout with --json. */
import { toRepriseError } from '../../contract/errors.ts'
import { type CliContext, notify, printJson } from '../base/context.ts'
import { exitCodeOf } from '../base/exit-code.ts'
import { styleFor } from '../terminal/terminal.ts'
import { withLocalTimes } from '../terminal/time.ts'
import { explainRefusal, homeOf } from './link.ts'
import { explainVersions } from './version-notice.ts'

export async function reportError(thrown: unknown, context: CliContext): Promise<number> {
  const error = explainVersions(explainRefusal(toRepriseError(thrown), homeOf(context)), context)
  if (context.json) {
    await printJson(context, error.toBody())
  } else {
    const style = styleFor(context.stderr, context.env)
    notify(context, `${style.red('error:')} ${style.safe(withLocalTimes(error.message))}`)
    if (error.hint) notify(context, `${style.dim('hint:')} ${style.safe(withLocalTimes(error.hint))}`)
  }
  return exitCodeOf(error.code)
}
