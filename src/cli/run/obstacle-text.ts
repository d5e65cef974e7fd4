/** Describes usage limits and outages, and the runs that wait for their end. */
import type { Obstacle, Quota } from '../../contract/obstacle.ts'
import { count, formatAge, formatDistance } from '../terminal/amounts.ts'
import { firstLine } from '../terminal/terminal.ts'
import { formatTime, withLocalTimes } from '../terminal/time.ts'

const SHOWN = 3

export function obstacleLines(obstacles: readonly Obstacle[], now: Date): string[] {
  return obstacles.flatMap((obstacle) => {
    const { kind, agents, baseUrl, model, message, since, neverAnswered } = obstacle
    const what = [agents.join(', '), model ?? '', baseUrl ? `at ${baseUrl}` : ''].filter(Boolean).join(' ')
    return [
      `${kind.padEnd(9)} ${what}: ${withLocalTimes(firstLine(message, 200), now)} (for ${formatAge(since, now)})`,
      `          ${nextStep(obstacle, now)}; ${waiters(obstacle)}`,
      ...(neverAnswered
        ? [
            '          There has never been an answer. Check address, proxy and login, or run `reprise doctor`.',
          ]
        : []),
    ]
  })
}

function nextStep({ resetsAt, nextTryAt, probe }: Obstacle, now: Date): string {
  if (Date.parse(nextTryAt) <= now.getTime()) {
    return probe ? `${probe} is trying again now` : 'the next run tries again'
  }
  const resets =
    resetsAt && Date.parse(resetsAt) > now.getTime()
      ? `resets at ${formatTime(resetsAt, now)} (${formatDistance(resetsAt, now)}), `
      : ''
  return `${resets}next try at ${formatTime(nextTryAt, now)} (${formatDistance(nextTryAt, now)})`
}

function waiters({ waiting, waitingCount }: Obstacle): string {
  if (waitingCount === 0) return 'no runs are waiting'
  const more = waitingCount > SHOWN ? ' …' : ''
  return `${count(waitingCount, 'run')} waiting: ${waiting.slice(0, SHOWN).join(', ')}${more}`
}

export function quotaLines(quotas: readonly Quota[], now: Date): string[] {
  return quotas.map(({ agents, windows, at }) => {
    const used = windows.map(({ name, used, resetsAt }) => {
      const resets = resetsAt ? `, resets at ${formatTime(resetsAt, now)}` : ''
      return `${name} ${Math.round(used * 100)}% used${resets}`
    })
    return `quota     ${agents.join(', ')}: ${used.join('; ')} (${formatAge(at, now)} ago)`
  })
}

/** Paused runs that belong to no job. Paused jobs are listed as jobs. */
export function pausedLines(paused: readonly string[]): string[] {
  const [first] = paused
  if (first === undefined) return []
  const many = paused.length === 1 ? '1 run is paused' : `${paused.length} runs are paused`
  return [`runs      ${many}; continue with: reprise runs continue ${first}`]
}
