/** The kinds of disruptions that a soak draws from, by the names that `--kinds` takes. */

/** What is killed with SIGKILL; `group` is keeper, feeder, agent and its tools at once. */
export const KILLS = ['agent', 'keeper', 'feeder', 'group', 'daemon'] as const

/** What is done besides kills; each lasts a moment and is then undone. */
export const FAULTS = [
  'stop',
  'stopDaemon',
  'transcript',
  'disk',
  'descriptors',
  'clock',
  'clockBack',
] as const

/** `model`: the model refuses requests, fails at them, or cuts off its answer. */
export const KINDS = [...KILLS, ...FAULTS, 'model'] as const

export type Fault = (typeof FAULTS)[number]
export type Kind = (typeof KINDS)[number]

export const isKind = (name: string): name is Kind => (KINDS as readonly string[]).includes(name)
