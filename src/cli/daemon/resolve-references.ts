/**
 * Before the action of a command: replaces short forms of ids, `last`, and ids of something else that belongs to what
 * is expected. A whole id of the right kind needs no daemon; the action finds out whether it exists.
 */
import type { Command } from 'commander'
import { parseReference } from '../../contract/reference.ts'
import type { CliContext } from '../base/context.ts'
import { kindTakenBy, passesAsItIs, type Taker } from '../base/id-argument.ts'
import { connect } from './connect.ts'

/** Replaces the references among the arguments and options of a command. */
export async function resolveReferences(command: Command, context: CliContext): Promise<void> {
  for (const [index, argument] of command.registeredArguments.entries()) {
    const given: unknown = command.processedArgs[index]
    const id = await resolved(given, argument, context)
    if (id !== given) command.processedArgs[index] = id
  }
  for (const option of command.options) {
    const name = option.attributeName()
    const given: unknown = command.getOptionValue(name)
    const id = await resolved(given, option, context)
    if (id !== given) command.setOptionValue(name, id)
  }
}

async function resolved(given: unknown, taker: Taker, context: CliContext): Promise<unknown> {
  const kind = kindTakenBy(taker)
  if (kind === null || typeof given !== 'string') return given
  const reference = parseReference(given)
  if (!reference || (reference.isWhole && reference.kind === kind)) return given
  // A name that could also be the end of an id is a name.
  const isLast = reference.body === ''
  if (reference.kind === null && !isLast && passesAsItIs(taker, given)) return given
  return (await (await connect(context)).client.resolveId(given, kind)).id
}
