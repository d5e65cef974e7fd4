/**
 * gh and tea ask git about the repository that they are started in, and git follows the settings that it finds there. So
 * the broker starts them elsewhere and names the repository, as one of the remotes that were fixed before the run, and
 * the files.
 */
import { hasOption, type Reading } from './arguments.ts'
import type { Call, CallFacts, Refusal } from './call.ts'
import { absolutePath } from './paths.ts'

type Placed = { args: readonly string[]; cwd: string } | { refusal: Refusal }

/** Groups of sub-commands that are about one repository. */
const OF_REPOSITORY = new Set(
  'pr pull pulls issue issues run workflow release releases label labels cache secret variable ruleset milestones branches'.split(
    ' ',
  ),
)
/** Options whose value is a file, and sub-commands whose words are. */
const FILE_OPTIONS = /^(--body-file|--notes-file|--input|--asset|-F)$/
const FILE_WORDS = /^(gist (create|new|edit)|release (create|upload))$/

export function withRepository(reading: Reading, call: Call, facts: CallFacts): Placed {
  const { program, words } = reading
  const { remotes } = facts
  if ((program !== 'gh' && program !== 'tea') || !remotes) return { args: reading.args, cwd: call.cwd }
  const refuse = (why: string) => ({
    refusal: {
      reason: `\`${program} ${words.slice(0, 2).join(' ')}\` is refused: ${why}`,
      rule: 'repository',
    },
  })
  const args = withAbsoluteFiles(reading, call, facts)
  if (!OF_REPOSITORY.has(words[0] ?? '')) return { args, cwd: '/' }
  if (
    /^(pr|pull|pulls) (create|new|c)$/.test(words.slice(0, 2).join(' ')) &&
    !hasOption(reading, '-H', '--head')
  )
    return refuse('it does not see your branch. Push it, then name it with --head.')
  if (hasOption(reading, '-R', '--repo') || (program === 'tea' && hasOption(reading, '-r')))
    return { args, cwd: '/' }
  const repository = repositoryOf(remotes.get('origin') ?? [...remotes.values()][0] ?? '')
  if (!repository) return refuse('it does not know which repository is meant. Name it with --repo.')
  const end = args.indexOf('--')
  const at = end === -1 ? args.length : end
  const name = program === 'gh' ? repository.join('/') : repository.slice(1).join('/')
  return { args: [...args.slice(0, at), '--repo', name, ...args.slice(at)], cwd: '/' }
}

/** Host, owner and name in the address of a remote. */
function repositoryOf(address: string): string[] | undefined {
  const form =
    /^(?:[a-z+]+:\/\/)?(?:[^@/]*@)?([\w.-]+)(?::\d+(?=\/))?[:/]+([\w.-]+)\/([\w.-]+?)(?:\.git)?\/?$/
  return form.exec(address)?.slice(1)
}

function withAbsoluteFiles(
  { args, options, words }: Reading,
  { cwd }: Call,
  { home, exists }: CallFacts,
): string[] {
  const result = [...args]
  const at = (path: string) => absolutePath(path, cwd, home)
  for (const { name, value = '', index } of options) {
    if (!FILE_OPTIONS.test(name) || value === '' || value === '-') continue
    const text = args[index] ?? ''
    // `-F body=@file` of gh api
    const [, before = '', path = ''] = /^([^=]*=@)?(.*)$/s.exec(value) ?? []
    if (words[0] === 'api' && before === '' && name === '-F') continue
    result[index] = text.slice(0, text.length - value.length) + before + at(path)
  }
  if (!FILE_WORDS.test(words.slice(0, 2).join(' '))) return result
  return result.map((arg) => (words.slice(2).includes(arg) && exists(at(arg)) ? at(arg) : arg))
}
