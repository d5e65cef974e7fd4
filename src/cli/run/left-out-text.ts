/** What of the past an agent was not given, in words. */
import type { LeftOut } from '../../contract/left-out.ts'
import { count } from '../terminal/amounts.ts'

export function leftOutText({ turns, steps, messages, tools, characters }: LeftOut): string {
  const parts = [
    ...(turns > 0 ? [`${count(turns, 'turn')} left out`] : []),
    ...(steps > 0 ? [`${count(steps, 'step')} left out`] : []),
    ...(messages > 0 ? [`${count(messages, 'message')} shortened`] : []),
    ...(tools > 0 ? [`${count(tools, 'tool input or output', 'tool inputs or outputs')} shortened`] : []),
  ]
  return `${parts.join(', ')} (${characters.toLocaleString('en')} characters): the history does not fit the model's window`
}

/** One line for each, the largest of them. */
export function leftOutLines({ items }: LeftOut): string[] {
  return items.map(({ what, turn, tool, characters }) => {
    const where = turn === null ? '' : ` of turn ${turn}`
    const which =
      what === 'turn' ? `turn ${turn}` : `${what.replace('-', ' ')}${tool ? ` (${tool})` : ''}${where}`
    return `  not given: ${which}, ${characters.toLocaleString('en')} characters`
  })
}
