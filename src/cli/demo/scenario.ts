/** The answers of the scripted model in the demo. Plain data: it is written into a file and given to `reprise up --scenario`. */
const text = (said: string) => ({ text: said })
const bash = (command: string, description: string) => ({ tool: 'Bash', input: { command, description } })
const results = { await: 'results' }

const report = (status: string, summary: string, escalate: boolean, reason: string) => ({
  tool: 'StructuredOutput',
  input: { status, summary, checks: [], services: ['web'], actions: [], escalate, reason },
})

/** Higher tiers continue the session, and are told only what is new. */
const tier = (number: number, steps: readonly object[]) => ({
  name: `tier ${number}`,
  when: { user: number === 1 ? '/You work as tier 1 of/' : `/You now work as tier ${number} of/` },
  reply: [...steps, results, text('Reported.')],
})

export const INTERRUPTED_STEP = 'The first half is written. Now the second half.'

export const DEMO_SCENARIO = {
  name: 'demo',
  rules: [
    {
      name: 'follow-up',
      when: { user: '/Is web still up/' },
      reply: [report('healthy', 'web is still up', false, 'it stays up'), results, text('Still up.')],
    },
    tier(1, [
      text('I look at the state of web, and change nothing.'),
      bash('cat web.state', 'Read the state'),
      results,
      report('down', 'web is down: its state file says so', true, 'it must be started again'),
    ]),
    tier(2, [
      text('I may write in this directory, so I start it.'),
      { tool: 'Write', input: { file_path: 'web.start', content: 'start\n' } },
      results,
      report('down', 'web was started, and stopped again at once', true, 'its limit must be raised first'),
    ]),
    tier(3, [
      text('I raise its limit, start it, and plan a check for later.'),
      bash('printf "up\\n" > web.state', 'Start it with a higher limit'),
      results,
      {
        tool: 'ScheduleWakeup',
        input: { delaySeconds: 60, reason: 'see whether web stays up', prompt: 'Is web still up?' },
      },
      results,
      report('fixed', 'web is up again', false, 'its limit was raised'),
    ]),
    { name: 'remember', when: 'Remember the number 7', reply: 'I will remember it.' },
    {
      name: 'recall',
      when: { user: 'Which number', contains: 'Remember the number 7' },
      reply: 'You told me to remember 7.',
    },
    {
      name: 'continue',
      when: 'You were interrupted',
      reply: [
        text('I was interrupted, and I know where I was: the first half is there.'),
        bash('printf "second half\\n" >> report.txt && cat report.txt', 'Write the second half'),
        results,
        text('The report is complete.'),
      ],
    },
    {
      name: 'report',
      when: 'Write a report',
      reply: [
        text('I begin with the first half.'),
        bash('printf "first half\\n" > report.txt', 'Write the first half'),
        results,
        text(INTERRUPTED_STEP),
        bash('while [ ! -e finished ]; do sleep 1; done', 'Wait for data'),
        results,
        text('never said'),
      ],
    },
    { reply: 'You said: ${user}' },
  ],
}
