/** Settings of watches and follow-ups. watches.ts checks whether the settings of a watch are consistent. */
import { z } from 'zod'
import { MEMORIES, NOTIFY_FROM, OVERLAPS, WatchDefinition, WatchName } from '../contract/watch.ts'
import { duration, setting, text, wholeNumber } from './setting.ts'

const oneOf = <const T extends readonly [string, ...string[]]>(values: T, description: string) =>
  setting(z.enum(values), `one of ${values.join(', ')}`, description)

const flag = (description: string) => setting(z.boolean(), 'true or false', description)

const watch = z
  .strictObject({
    every: duration('Interval, counted from the previous due time, so that it does not drift.', {
      min: '10s',
      max: '366d',
    }).optional(),
    cron: text(
      'Schedule instead of every: minute, hour, day of month, month, day of week; or @daily and similar.',
    ).optional(),
    timeZone: text('Time zone of cron, such as Europe/Berlin; by default that of the machine.').optional(),
    jitter: duration('Maximum random delay of each cycle.', {
      min: '0ms',
      max: '366d',
    }).optional(),
    everyWhileNotHealthy: duration(
      'Shorter interval while the last cycle did not complete as healthy or fixed. Needs every or cron.',
      { min: '10s', max: '366d' },
    ).optional(),
    workDir: text('Work directory of the agent, relative to the settings file.').prefault('.'),
    prompt: setting(
      z.string().refine((prompt) => prompt.trim() !== ''),
      'a text that is not empty',
      'What to check, and what to do about it.',
    ).optional(),
    promptFile: text('File with the prompt, relative to the settings file.').optional(),
    agent: text('Agent to use.').optional(),
    memory: oneOf(
      MEMORIES,
      'fresh: each cycle starts a new session. persistent: each cycle continues the session of the previous one.',
    ).optional(),
    overlap: oneOf(OVERLAPS, 'What to do when a cycle is due while another one is open.').optional(),
    maxTier: wholeNumber('Highest tier that a cycle may reach.', { min: 1, max: 9 }).optional(),
    dryRun: flag('Whether everything that would change something is refused and recorded.').optional(),
    environment: setting(
      z.string().max(200_000),
      'a text of up to 200000 characters',
      'Description of the environment, given to each new session.',
    ).optional(),
    environmentFile: text('File describing the environment, relative to the settings file.').optional(),
    budgetUsd: setting(
      z.number().gt(0).max(1_000_000),
      'a number above 0',
      'Maximum cost of a cycle with all its tiers and follow-ups, in US dollars.',
    ).optional(),
    budgetUsdPerDay: setting(
      z.number().gt(0).max(1_000_000),
      'a number above 0',
      'Maximum cost of all cycles of a day, in US dollars. Then the watch waits for the next day.',
    ).optional(),
    maxDuration: duration(
      'Maximum duration of a cycle with its follow-ups; by default that of a run (run.maxDuration).',
      { min: '1s' },
    ).optional(),
    hookSecret: setting(
      WatchDefinition.shape.hookSecret.unwrap(),
      'a text of 16 to 255 visible ASCII characters',
      'Secret with which others can send events to this watch, and nothing else.',
    ).optional(),
    eventsPerHour: wholeNumber('Maximum number of cycles per hour that events may start.', {
      min: 1,
      max: 3600,
    }).optional(),
    dedupe: duration('How long a repeated event is ignored.', {
      min: '0ms',
      max: '30d',
    }).optional(),
    renewAfter: duration('With persistent memory: a new session is started after this time.', {
      min: '1m',
      max: '3650d',
    }).optional(),
    renewAfterCycles: wholeNumber(
      'With persistent memory: a new session is started after this many cycles.',
      {
        min: 1,
        max: 100_000,
      },
    ).optional(),
    notify: setting(
      z.array(text('The name of a target under notify.')),
      'a list of names of targets under notify',
      'Targets under notify that are notified; by default all.',
    ).optional(),
    webhook: setting(
      WatchDefinition.shape.webhook.unwrap(),
      'an http or https address',
      'Additional URL that is notified about this watch.',
    ).optional(),
    notifyFrom: oneOf(
      NOTIFY_FROM,
      'Lowest level to notify about; change: only when the status differs from that of the previous cycle.',
    ).optional(),
    paused: flag(
      'Whether the watch is paused when the daemon starts. If this is removed later, the watch stays paused until it is resumed.',
    ).prefault(false),
  })
  .superRefine(({ prompt, promptFile, environment, environmentFile }, context) => {
    const refuse = (says: string, path: string[] = []) =>
      context.addIssue({ code: 'custom', message: says, params: { says }, path })
    if (prompt === undefined && promptFile === undefined) refuse('needs prompt or promptFile')
    if (prompt !== undefined && promptFile !== undefined) {
      refuse('cannot be used together with prompt', ['promptFile'])
    }
    if (environment !== undefined && environmentFile !== undefined) {
      refuse('cannot be used together with environment', ['environmentFile'])
    }
  })

export const watches = setting(
  z.record(WatchName, watch),
  'names (up to 63 lower-case letters, digits, . _ -) with settings',
  'Checks on a schedule, by name.',
)

export const followUps = z.strictObject({
  hold: duration(
    'An agent is kept running for a follow-up that is due within this time; with 0 every follow-up gets its own run.',
    {
      min: '0ms',
      max: '30m',
    },
  ).prefault('2m'),
  maxPending: wholeNumber('Maximum number of planned follow-ups per session or chain of runs.', {
    min: 1,
    max: 1000,
  }).prefault(20),
  maxAhead: duration('How far ahead a follow-up may be planned. Follow-ups of a cycle end with it.', {
    min: '1m',
    max: '366d',
  }).prefault('30d'),
  maxPendingTotal: wholeNumber('Maximum number of planned follow-ups in total.', {
    min: 1,
    max: 1_000_000,
  }).prefault(10_000),
})
