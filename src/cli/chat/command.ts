/** Parses a line of a chat: a message to the agent, or a command of Reprise. Pure. */
import { nearestWord } from '../../config/nearest-word.ts'

export type ChatInput =
  | { kind: 'say'; text: string }
  | { kind: 'help' }
  | { kind: 'history' }
  | { kind: 'edit'; number: number; text: string }
  | { kind: 'drop'; number: number }
  | { kind: 'retry'; number: number | null }
  | { kind: 'fresh' }
  | { kind: 'agent'; name: string | null }
  | { kind: 'model'; name: string | null }
  | { kind: 'instructions'; change: InstructionsChange }
  | { kind: 'title'; text: string }
  | { kind: 'info' }
  | { kind: 'stop' }
  | { kind: 'quit' }
  | { kind: 'mistake'; message: string; hint: string }

export type InstructionsChange =
  | { to: 'show' }
  | { to: 'clear' }
  | { to: 'text'; text: string }
  | { to: 'file'; path: string }

interface ChatCommand {
  name: string
  usage: string
  about: string
  /** Null if `rest` does not match the usage. */
  parse: (rest: string) => ChatInput | null
}

const alone = (input: ChatInput) => (rest: string) => (rest === '' ? input : null)
const word = (rest: string) => (/^\S+$/.test(rest) ? rest : null)
const place = (text: string) => (/^[1-9]\d{0,8}$/.test(text) ? Number(text) : null)

const COMMANDS: readonly ChatCommand[] = [
  {
    name: 'help',
    usage: '/help',
    about: 'list the commands',
    parse: alone({ kind: 'help' }),
  },
  {
    name: 'history',
    usage: '/history',
    about: 'list the messages so far, numbered',
    parse: alone({ kind: 'history' }),
  },
  {
    name: 'edit',
    usage: '/edit N new text',
    about: 'change the text of message N',
    parse: (rest) => {
      const [, first = '', text = ''] = /^(\S+)\s+([\s\S]+)$/.exec(rest) ?? []
      const number = place(first)
      return number === null ? null : { kind: 'edit', number, text }
    },
  },
  {
    name: 'drop',
    usage: '/drop N',
    about: 'remove message N and all after it',
    parse: (rest) => {
      const number = place(rest)
      return number === null ? null : { kind: 'drop', number }
    },
  },
  {
    name: 'retry',
    usage: '/retry [N]',
    about: 'ask again from message N, or repeat the last turn',
    parse: (rest) => {
      if (rest === '') return { kind: 'retry', number: null }
      const number = place(rest)
      return number === null ? null : { kind: 'retry', number }
    },
  },
  {
    name: 'fresh',
    usage: '/fresh',
    about: 'start the next turn in a new session, with the history',
    parse: alone({ kind: 'fresh' }),
  },
  {
    name: 'agent',
    usage: '/agent [NAME]',
    about: 'set the agent for the next turns; without a name, list the agents',
    parse: (rest) => (rest === '' || word(rest) ? { kind: 'agent', name: word(rest) } : null),
  },
  {
    name: 'model',
    usage: '/model [NAME]',
    about: "set the model for the next turns; without a name, use the agent's default",
    parse: (rest) => (rest === '' || word(rest) ? { kind: 'model', name: word(rest) } : null),
  },
  {
    name: 'compact',
    usage: '/compact [TEXT]',
    about: 'send /compact to the agent, which then summarizes its context',
    parse: (rest) => ({ kind: 'say', text: rest === '' ? '/compact' : `/compact ${rest}` }),
  },
  {
    name: 'instructions',
    usage: '/instructions [TEXT | @FILE | -]',
    about: 'show, set or remove the instructions for all agents',
    parse: (rest) => ({ kind: 'instructions', change: parseInstructions(rest) }),
  },
  {
    name: 'title',
    usage: '/title TEXT',
    about: 'set the title of the conversation',
    parse: (rest) => (rest === '' ? null : { kind: 'title', text: rest }),
  },
  {
    name: 'info',
    usage: '/info',
    about: 'show the conversation, its agents and their sessions',
    parse: alone({ kind: 'info' }),
  },
  {
    name: 'stop',
    usage: '/stop',
    about: 'cancel the turn that is being answered, like Ctrl-C',
    parse: alone({ kind: 'stop' }),
  },
  {
    name: 'quit',
    usage: '/quit',
    about: 'leave the chat, like Ctrl-D; a turn that is being answered continues',
    parse: alone({ kind: 'quit' }),
  },
]

const SAY_SLASH = 'To send the agent a text that begins with a slash, type two: //'

/** Null for an empty line. */
export function parseChatInput(typed: string): ChatInput | null {
  const text = typed.trim()
  if (text === '') return null
  if (!text.startsWith('/')) return { kind: 'say', text }
  if (text.startsWith('//')) return { kind: 'say', text: text.slice(1) }
  const [, name = '', rest = ''] = /^\/(\S*)\s*([\s\S]*)$/.exec(text) ?? []
  const command = COMMANDS.find((item) => item.name === name.toLowerCase())
  if (!command) return unknown(name)
  const input = command.parse(rest)
  return input ?? { kind: 'mistake', message: `expected ${command.usage}`, hint: SAY_SLASH }
}

function unknown(name: string): ChatInput {
  const near = nearestWord(
    name,
    COMMANDS.map((item) => item.name),
  )
  const meant = near ? `Did you mean /${near}?` : '/help lists the commands.'
  return {
    kind: 'mistake',
    message: `unknown command /${name}, nothing was sent`,
    hint: `${meant} ${SAY_SLASH}`,
  }
}

function parseInstructions(rest: string): InstructionsChange {
  if (rest === '') return { to: 'show' }
  if (rest === '-') return { to: 'clear' }
  const [, path] = /^@(\S.*)$/.exec(rest) ?? []
  return path === undefined ? { to: 'text', text: rest } : { to: 'file', path }
}

export function chatHelp(): string[] {
  const width = Math.max(...COMMANDS.map((item) => item.usage.length))
  return [
    ...COMMANDS.map((item) => `${item.usage.padEnd(width)}  ${item.about}`),
    '',
    'Anything else is sent to the agent. A line that ends in \\ continues on the next one.',
    "A single slash is a command of Reprise. For the agent's own commands type two: //context sends /context.",
    'During a turn, a message is passed on to the agent, which reads it after its current step.',
    'Ctrl-C cancels the turn that is being answered.',
  ]
}
