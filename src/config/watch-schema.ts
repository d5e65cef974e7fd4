/** Watches, by name, and what is asked for later. What must fit together is checked in watches.ts. */
import { z } from 'zod'
import { MEMORIES, NOTIFY_FROM, OVERLAPS, WatchDefinition, WatchName } from '../contract/watch.ts'
import { duration, setting, text, wholeNumber } from './setting.ts'

const oneOf = <const T extends readonly [string, ...string[]]>(values: T, description: string) =>
  setting(z.enum(values), `one of ${values.join(', ')}`, description)

const flag = (description: string) => setting(z.boolean(), 'true or false', description)

const watch = z
  .strictObject({
    every: duration('How often; counted from the time before, so that it does not drift.', {
      min: '10s',
      max: '366d',
    }).optional(),
    cron: text(
      'When, instead of every: minute, hour, day of the month, month, day of the week; or @daily and the like.',
    ).optional(),
    timeZone: text('Of cron, such as Europe/Berlin; by default that of the machine.').optional(),
    jitter: duration('Each time it is late by up to so much, by chance.', {
      min: '0ms',
      max: '366d',
    }).optional(),
    workDir: text('Where the agent works; relative to the settings file.').prefault('.'),
    prompt: setting(
      z.string().refine((prompt) => prompt.trim() !== ''),
      'a text that is not empty',
      'What to look at, and what to do about it.',
    ).optional(),
    promptFile: text('A file with the prompt; relative to the settings file.').optional(),
    agent: text('Which agent.').optional(),
    memory: oneOf(
      MEMORIES,
      'fresh: each cycle begins with a clean session. persistent: in that of the one before.',
    ).optional(),
    overlap: oneOf(OVERLAPS, 'What to do when a cycle is due while another is open.').optional(),
    maxTier: wholeNumber('The highest tier that a cycle may reach.', { min: 1, max: 9 }).optional(),
    dryRun: flag('Whatever would change something is refused and recorded.').optional(),
    environment: setting(
      z.string().max(200_000),
      'a text of up to 200000 characters',
      'About the place, for whoever starts fresh there.',
    ).optional(),
    environmentFile: text('A file with that text; relative to the settings file.').optional(),
    budgetUsd: setting(
      z.number().gt(0).max(1_000_000),
      'a number above 0',
      'What a cycle may cost, with all of its tiers and follow-ups.',
    ).optional(),
    budgetUsdPerDay: setting(
      z.number().gt(0).max(1_000_000),
      'a number above 0',
      'What all cycles of a day may cost together; then the watch waits for the next day.',
    ).optional(),
    maxDuration: duration(
      'How long a cycle may take, with its follow-ups; by default as long as a run (run.maxDuration).',
      { min: '1s' },
    ).optional(),
    hookSecret: setting(
      WatchDefinition.shape.hookSecret.unwrap(),
      'a text of 16 to 255 visible ASCII characters',
      'With this one may send events to the watch, and do nothing else.',
    ).optional(),
    eventsPerHour: wholeNumber('How many cycles events may start in an hour.', {
      min: 1,
      max: 3600,
    }).optional(),
    dedupe: duration('The same event is taken for known for so long.', {
      min: '0ms',
      max: '30d',
    }).optional(),
    renewAfter: duration('After so long a persistent memory begins anew.', {
      min: '1m',
      max: '3650d',
    }).optional(),
    renewAfterCycles: wholeNumber('After so many cycles a persistent memory begins anew.', {
      min: 1,
      max: 100_000,
    }).optional(),
    notify: setting(
      z.array(text('The name of a target under notify.')),
      'a list of names of targets under notify',
      'Of the targets under notify, those to be told; without it all.',
    ).optional(),
    webhook: setting(
      WatchDefinition.shape.webhook.unwrap(),
      'an http or https address',
      'Told of this watch, besides those.',
    ).optional(),
    notifyFrom: oneOf(
      NOTIFY_FROM,
      'Nothing below it is told; change: only what is not as it was before.',
    ).optional(),
    paused: flag(
      'Paused whenever the daemon starts; if this is taken out, until somebody resumes it.',
    ).prefault(false),
  })
  .superRefine(({ prompt, promptFile, environment, environmentFile }, context) => {
    const refuse = (says: string, path: string[] = []) =>
      context.addIssue({ code: 'custom', message: says, params: { says }, path })
    if (prompt === undefined && promptFile === undefined) refuse('needs a prompt or a promptFile')
    if (prompt !== undefined && promptFile !== undefined) {
      refuse('is given together with prompt; leave out one of the two', ['promptFile'])
    }
    if (environment !== undefined && environmentFile !== undefined) {
      refuse('is given together with environment; leave out one of the two', ['environmentFile'])
    }
  })

export const watches = setting(
  z.record(WatchName, watch),
  'names (small letters, digits, . _ -, up to 63) with their settings',
  'What to look at again and again, by name.',
)

export const followUps = z.strictObject({
  hold: duration(
    'An agent is kept waiting for a follow-up that is due sooner than this; 0 gives every follow-up a run of its own.',
    {
      min: '0ms',
      max: '30m',
    },
  ).prefault('2m'),
  maxPending: wholeNumber('How many may be planned in one session, or chain of runs.', {
    min: 1,
    max: 1000,
  }).prefault(20),
  maxAhead: duration('How far ahead one may be planned; those of a cycle end with it.', {
    min: '1m',
    max: '366d',
  }).prefault('30d'),
  maxPendingTotal: wholeNumber('How many may be planned altogether.', {
    min: 1,
    max: 1_000_000,
  }).prefault(10_000),
})
