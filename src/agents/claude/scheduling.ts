/**
 * The CLI's own scheduling tools. Their schedules live in the process and are restored, and fired, by any process that
 * resumes the session, so nothing ensures that they fire once. Therefore the CLI never keeps one; Reprise does it
 * instead.
 */
import type { SchedulingCall } from '../../core/schedule/call.ts'
import { isRecord } from './wire.ts'

export const SCHEDULING_TOOLS = ['CronCreate', 'CronList', 'CronDelete', 'ScheduleWakeup'] as const

export const isScheduling = (tool: string): boolean => SCHEDULING_TOOLS.some((name) => name === tool)

/** null: another tool. */
export function readClaudeScheduling(tool: string, input: unknown): SchedulingCall | null {
  const given = isRecord(input) ? input : {}
  switch (tool) {
    case 'CronList':
      return { kind: 'list' }
    case 'CronDelete':
      return typeof given.id === 'string'
        ? { kind: 'delete', id: given.id.trim() }
        : { kind: 'unclear', problem: 'id: expected the id of a follow-up' }
    case 'CronCreate':
      if (typeof given.cron !== 'string') return { kind: 'unclear', problem: 'cron: expected five fields' }
      // The tool's own default is a recurring schedule.
      return withPrompt(given, { cron: given.cron, recurring: given.recurring !== false })
    case 'ScheduleWakeup': {
      const { delaySeconds } = given
      if (typeof delaySeconds !== 'number' || !Number.isFinite(delaySeconds)) {
        return { kind: 'unclear', problem: 'delaySeconds: expected a number of seconds' }
      }
      return withPrompt(given, { inMs: Math.round(delaySeconds * 1000) })
    }
    default:
      return null
  }
}

function withPrompt(
  { prompt, reason }: Record<string, unknown>,
  when: Extract<SchedulingCall, { kind: 'create' }>['when'],
): SchedulingCall {
  if (typeof prompt !== 'string' || prompt.trim() === '') {
    return { kind: 'unclear', problem: 'prompt: expected a text that is not empty' }
  }
  return { kind: 'create', prompt, reason: typeof reason === 'string' && reason ? reason : null, when }
}
