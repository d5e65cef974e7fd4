/**
 * The scenario for first-time users: any prompt gets an answer, and asking to look at something shows a real tool call.
 */
import { defineScenario } from './scenario.ts'

export const defaultScenario = defineScenario({
  name: 'default',
  rules: [
    {
      name: 'tier',
      when: /You (now )?work as tier \d of \d/,
      reply: [
        {
          text: 'I am the Reprise simulator, a scripted stand-in for a model. I look at the directory, and find nothing wrong with it.',
        },
        { tool: 'Bash', input: { command: 'ls', description: 'List the files here' } },
        { await: 'results' },
        {
          tool: 'StructuredOutput',
          input: {
            status: 'healthy',
            summary: 'The directory can be read. This report is scripted; only the tool call was real.',
            checks: [{ name: 'directory', status: 'ok', finding: 'it can be read' }],
            services: [],
            actions: [],
            escalate: false,
            reason: 'nothing is wrong',
          },
        },
        { await: 'results' },
        { text: 'That is all.' },
      ],
    },
    {
      name: 'look around',
      when: /^\s*(please\s+)?run\b|\bls\b|\b(list|show|look|which)\b.*\b(files?|folders?|director(y|ies)|here|around)\b/is,
      reply: [
        {
          text: 'I am the Reprise simulator, a scripted stand-in for a model. I will look at the directory with a real tool call.',
        },
        { tool: 'Bash', input: { command: 'ls', description: 'List the files here' } },
        { await: 'results' },
        {
          text: 'The directory holds:\n\n${toolResult}\n\nThe tool call was real; only my words are scripted.',
        },
      ],
    },
    {
      name: 'answer',
      // Skips what Reprise adds to a message in <reprise> tags, which the user did not write.
      when: /(?:[\s\S]*<\/reprise>\s*)?(?<said>[\s\S]*)$/,
      reply: [
        {
          text: 'I am the Reprise simulator, a scripted stand-in for a model. You said: "${said}"\n\nAsk me to list the files to see a tool call, or give me a scenario of your own (docs/simulator.md).',
        },
      ],
    },
  ],
})
