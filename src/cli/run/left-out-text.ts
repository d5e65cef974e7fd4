/** Describes the part of the history that an agent was not given. */
import type { LeftOut } from '../../contract/left-out.ts'
import { count } from '../terminal/amounts.ts'

export function leftOutText({ turns, steps, messages, tools, characters }: LeftOut): string {
  const parts = [
    ...(turns > 0 ? [`${count(turns, 'turn')} left out`] : []),
    ...(steps > 0 ? [`${count(steps, 'step')} left out`] : []),
    ...(messages > 0 ? [`${count(messages, 'message')} shortened`] : []),
    ...(tools > 0 ? [`${count(tools, 'tool input or output', 'tool inputs or outputs')} shortened`] : []),
  ]
  return `${parts.join(', ')} (${characters.toLocaleString('en')} characters), because the history does not fit into the model's context`
}

/** One line for each of the largest items. */
export function leftOutLines({ items }: LeftOut): string[] {
  return items.map(({ what, turn, tool, characters }) => {
    const where = turn === null ? '' : ` of turn ${turn}`
    const which =
      what === 'turn' ? `turn ${turn}` : `${what.replace('-', ' ')}${tool ? ` (${tool})` : ''}${where}`
    return `  left out: ${which}, ${characters.toLocaleString('en')} characters`
  })
}
